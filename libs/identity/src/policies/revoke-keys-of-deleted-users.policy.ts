import { type Clock, type Decisions, idOf, reactionTo, type StreamReader } from '@app/kernel';
import type { Policy } from '@app/projecting';
import { apiKeyDecider } from '../api-key/api-key.decider';

const NAME = 'revoke-keys-of-deleted-users';

export interface LateKeysParts {
  readonly decisions: Decisions;
  readonly log: StreamReader;
  readonly clock: Clock;
}

/** Views drop the keys of a user with them. One made behind the deletion, by a request that was under way, opens nothing, and is met as its own event. */
export const revokeKeysOfDeletedUsers = ({ decisions, log, clock }: LateKeysParts): Policy => ({
  name: NAME,
  types: ['ApiKeyCreated'],
  react: async (event) => {
    const [last] = await log.readStream(`user-${String(event.data['userId'])}`, { direction: 'backwards', limit: 1 });
    if (last?.type !== 'UserDeleted') return;
    await decisions.transact(
      apiKeyDecider,
      idOf(event.context.stream),
      { type: 'Revoke', withUser: true },
      reactionTo(event, NAME, clock.now()),
    );
  },
});
