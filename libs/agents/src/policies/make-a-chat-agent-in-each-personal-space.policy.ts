import { type Clock, CLOCK, idOf, reactionTo, type RecordedEvent } from '@app/kernel';
import { type Policy, PolicyHandler } from '@app/projecting';
import { Inject } from '@nestjs/common';
import { CreatePersonalAgent, CreatePersonalAgentHandler } from '../agent/commands/create-personal-agent';

/** Every user gets a chat Agent in their personal Space. */
@PolicyHandler()
export class MakeAChatAgentInEachPersonalSpace implements Policy {
  readonly name = 'make-a-chat-agent-in-each-personal-space';
  readonly types = ['SpaceCreated'];

  constructor(
    private readonly createPersonalAgent: CreatePersonalAgentHandler,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async react(event: RecordedEvent): Promise<void> {
    const { kind, ownerId } = event.data as { readonly kind: string; readonly ownerId: string };
    if (kind !== 'personal') return;
    const meta = reactionTo(event, this.name, this.clock.now());
    await this.createPersonalAgent.execute(new CreatePersonalAgent(ownerId, idOf(event.context.stream), meta));
  }
}
