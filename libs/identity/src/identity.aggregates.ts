import { defineAggregate, idOf, namedIn, ownKey, ownStream } from '@app/kernel';
import { claimForfeited } from '@app/reservations';
import { adminEvents, adminsDecider } from './admins/admins.decider';
import { apiKeyUseDecider } from './api-key/api-key-use';
import { apiKeyDecider } from './api-key/api-key.decider';
import { apiKeyEvents, apiKeyUsed } from './api-key/api-key.events';
import { AdminRegister } from './admins/admin-register';
import { sessionDecider } from './session/session.decider';
import { sessionEvents } from './session/session.events';
import { userDecider } from './user/user.decider';
import { userEvents } from './user/user.events';
import { userIntegrations } from './user/user.integrations';

/** Deleting a user erases everything that is theirs. */
const userAggregate = defineAggregate(userDecider, [...userEvents, claimForfeited], {
  erasure: {
    by: { UserDeleted: ({ context }) => ({ userId: idOf(context.stream) }) },
    again: (decisions, id, meta) =>
      new AdminRegister(decisions).announcing(id, { status: 'deleted' }, meta, (appointed) =>
        decisions.transact(userDecider, id, { type: 'Delete', ...appointed }, meta),
      ),
  },
  integrations: userIntegrations,
  kinds: { user: ownStream('user') },
});

const adminsAggregate = defineAggregate(adminsDecider, adminEvents);

/** A key is deleted with its user. One created after the user's deletion is erased by its revocation. */
const apiKeyAggregate = defineAggregate(apiKeyDecider, apiKeyEvents, {
  erasure: {
    by: { ApiKeyRevoked: (event) => (event.data.withUser === true ? ownKey(event) : undefined) },
    again: 'withOwner',
  },
  kinds: {
    apiKey: ownStream('apiKey', (first) => [
      `apiKeyUse-${idOf(first.context.stream)}`,
      ...namedIn('user', 'userId')(first),
    ]),
  },
});

const apiKeyUseAggregate = defineAggregate(apiKeyUseDecider, [apiKeyUsed]);

const sessionAggregate = defineAggregate(sessionDecider, sessionEvents);

export const identityAggregates = [
  adminsAggregate,
  userAggregate,
  apiKeyAggregate,
  apiKeyUseAggregate,
  sessionAggregate,
];
