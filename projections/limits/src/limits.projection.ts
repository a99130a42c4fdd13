import type { ApiKeyEvent } from '@app/identity';
import { idOf, never, type RecordedEvent } from '@app/kernel';
import type { RowProjection } from '@app/projecting';
import type { Row } from '@app/read-store';
import { type LimitEvent, limitScope, limitTerms } from '@app/spending';
import { z } from 'zod';

const { amount, currency, window, timeZone, action, includedAmount } = limitTerms.shape;

/** A spend limit, or the place of an API key's. What a key's limit leaves to the instance is null. */
export const limitRow = z.object({
  id: z.string(),
  scope: limitScope,
  /** Whose limit it is: the user it is for, or the user of the key it is for. */
  userId: z.string().nullable(),
  /** False for a key without a limit. */
  isSet: z.boolean(),
  amount: amount.nullable(),
  currency: currency.nullable(),
  window: window.nullable(),
  timeZone: timeZone.nullable(),
  action,
  includedAmount,
  createdAt: z.string(),
  revision: z.number().int(),
});
export type LimitRow = z.output<typeof limitRow>;

type KeyEvent = Extract<ApiKeyEvent, { readonly type: 'ApiKeyCreated' | 'ApiKeyChanged' | 'ApiKeyRevoked' }>;
type Events =
  | RecordedEvent<LimitEvent>
  | RecordedEvent<KeyEvent>
  | RecordedEvent<{ readonly type: 'UserDeleted'; readonly data: Record<string, never> }>;

/** Spend limits while they stand, those of API keys included. */
export const limits: RowProjection = {
  kind: 'rows',
  name: 'limits',
  version: 1,
  types: ['SpendLimitSet', 'SpendLimitRemoved', 'ApiKeyCreated', 'ApiKeyChanged', 'ApiKeyRevoked', 'UserDeleted'],
  row: limitRow,
  indexes: [
    { name: 'newest', fields: [{ field: 'isSet' }, { field: 'createdAt', order: 'desc' }] },
    {
      name: 'newest-of-user',
      fields: [{ field: 'userId' }, { field: 'isSet' }, { field: 'createdAt', order: 'desc' }],
    },
  ],
  apply: (recorded) => {
    const event = recorded as Events;
    const { stream, recordedAt, revision } = event.context;
    const key = idOf(stream);
    switch (event.type) {
      case 'SpendLimitSet': {
        const { limitId: id, ...data } = event.data;
        const userId = data.scope.type === 'user' ? data.scope.id : null;
        // A limit that is set anew stays where it was in lists.
        return [
          { op: 'patch', key: id, fields: { ...data, revision } },
          { op: 'add', key: id, row: { id, ...data, userId, isSet: true, createdAt: recordedAt, revision }, by: {} },
        ];
      }
      case 'SpendLimitRemoved':
        return [{ op: 'remove', key: event.data.limitId }];
      case 'ApiKeyCreated':
        return [
          {
            op: 'put',
            key,
            row: {
              id: key,
              scope: { type: 'apiKey', id: key },
              userId: event.data.userId,
              ...termsOf(event.data.usageLimit),
              createdAt: recordedAt,
              revision,
            },
          },
        ];
      case 'ApiKeyChanged':
        return event.data.usageLimit === undefined
          ? []
          : [{ op: 'patch', key, fields: { ...termsOf(event.data.usageLimit), revision } }];
      case 'ApiKeyRevoked':
        return [
          event.data.withUser === true
            ? { op: 'remove', key }
            : { op: 'patch', key, fields: { isSet: false, revision } },
        ];
      case 'UserDeleted':
        return [{ op: 'removeWhere', where: { userId: key } }];
      default:
        return never(event);
    }
  },
};

const termsOf = (limit: Extract<KeyEvent, { type: 'ApiKeyCreated' }>['data']['usageLimit']): Row => ({
  isSet: limit !== null,
  amount: limit?.amount ?? null,
  currency: null,
  window: limit?.window ?? null,
  timeZone: limit?.timeZone ?? null,
  action: limit?.action ?? 'block',
  includedAmount: limit?.includedAmount ?? null,
});
