import { type Clock, CLOCK, Decisions, idOf, isDomainError, reactionTo, type RecordedEvent } from '@app/kernel';
import { type Policy, PolicyHandler } from '@app/projecting';
import { Inject } from '@nestjs/common';
import { apiKeyDecider } from '../api-key/api-key.decider';

/** Grants an Agent to the key that created it, if the request died before it could. A revoked key gets nothing. */
@PolicyHandler()
export class GrantAgentsToTheirKeys implements Policy {
  readonly name = 'grant-agents-to-their-keys';
  readonly types = ['AgentCreated'];

  constructor(
    private readonly decisions: Decisions,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async react(event: RecordedEvent): Promise<void> {
    const [kind, keyId = ''] = event.context.actor.split(':');
    if (kind !== 'key') return;
    try {
      await this.decisions.transact(
        apiKeyDecider,
        keyId,
        { type: 'GrantAgent', agentId: idOf(event.context.stream) },
        reactionTo(event, this.name, this.clock.now()),
      );
    } catch (error) {
      if (!isDomainError(error, 'not_found')) throw error;
    }
  }
}
