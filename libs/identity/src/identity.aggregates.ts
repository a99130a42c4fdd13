import { defineAggregate, idOf, namedIn, ownKey, ownStream } from '@app/kernel';
import { adminEvents, adminsDecider } from './admins/admins.decider';
import { apiKeyUseDecider } from './api-key/api-key-use';
import { apiKeyDecider } from './api-key/api-key.decider';
import { apiKeyEvents, apiKeyUsed } from './api-key/api-key.events';
import { userAggregate } from './user/user.aggregate';

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

export const identityAggregates = [adminsAggregate, userAggregate, apiKeyAggregate, apiKeyUseAggregate];
