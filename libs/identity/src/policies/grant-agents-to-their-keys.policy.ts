import { type Clock, type Decisions, idOf, isDomainError, reactionTo } from '@app/kernel';
import type { Policy } from '@app/projecting';
import { apiKeyDecider } from '../api-key/api-key.decider';

const NAME = 'grant-agents-to-their-keys';

/** Grants an Agent to the key that created it, if the request died before it could. A revoked key gets nothing. */
export const grantAgentsToTheirKeys = ({
  decisions,
  clock,
}: {
  readonly decisions: Decisions;
  readonly clock: Clock;
}): Policy => ({
  name: NAME,
  types: ['AgentCreated'],
  react: async (event) => {
    const [kind, keyId = ''] = event.context.actor.split(':');
    if (kind !== 'key') return;
    try {
      await decisions.transact(
        apiKeyDecider,
        keyId,
        { type: 'GrantAgent', agentId: idOf(event.context.stream) },
        reactionTo(event, NAME, clock.now()),
      );
    } catch (error) {
      if (!isDomainError(error, 'not_found')) throw error;
    }
  },
});
