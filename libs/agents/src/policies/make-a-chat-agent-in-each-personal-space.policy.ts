import { type Clock, idOf, reactionTo } from '@app/kernel';
import type { Policy } from '@app/projecting';
import { CreatePersonalAgent, type CreatePersonalAgentHandler } from '../agent/commands/create-personal-agent';

const NAME = 'make-a-chat-agent-in-each-personal-space';

/** Every user gets a chat Agent in their personal Space. */
export const makePersonalAgents = ({
  createPersonalAgent,
  clock,
}: {
  readonly createPersonalAgent: Pick<CreatePersonalAgentHandler, 'execute'>;
  readonly clock: Clock;
}): Policy => ({
  name: NAME,
  types: ['SpaceCreated'],
  react: async (event) => {
    const { kind, ownerId } = event.data as { readonly kind: string; readonly ownerId: string };
    if (kind !== 'personal') return;
    await createPersonalAgent.execute(
      new CreatePersonalAgent(ownerId, idOf(event.context.stream), reactionTo(event, NAME, clock.now())),
    );
  },
});
