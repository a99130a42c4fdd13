import { type ApiKeyEvent, permission, usageLimit } from '@app/identity';
import { givenFields, idOf, never, type RecordedEvent } from '@app/kernel';
import type { Operation } from '@app/read-store';
import type { RowProjection } from '@app/projecting';
import { z } from 'zod';

/** An API key as the API shows it. What is stored of its secret is not in the row. */
export const apiKeyRow = z.object({
  id: z.string(),
  name: z.string(),
  prefix: z.string(),
  userId: z.string(),
  agentIds: z.array(z.string()),
  allAgents: z.boolean(),
  permissions: z.array(permission),
  usageLimit: usageLimit.nullable(),
  expiresAt: z.string().nullable(),
  lastUsedAt: z.string().nullable(),
  createdAt: z.string(),
  revokedAt: z.string().nullable(),
  revision: z.number().int(),
});
export type ApiKeyRow = z.output<typeof apiKeyRow>;

type Events =
  | RecordedEvent<ApiKeyEvent>
  | RecordedEvent<{ readonly type: 'ApiKeyUsed'; readonly data: { readonly keyId: string } }>
  | RecordedEvent<{ readonly type: 'UserDeleted'; readonly data: Record<string, never> }>;

/** API keys, including revoked ones, until their user is deleted. */
export const apiKeys: RowProjection = {
  kind: 'rows',
  name: 'api-keys',
  version: 1,
  types: [
    'ApiKeyCreated',
    'ApiKeyChanged',
    'ApiKeyAgentGranted',
    'ApiKeySecretReplaced',
    'ApiKeyRevoked',
    'ApiKeyUsed',
    'UserDeleted',
  ],
  row: apiKeyRow,
  indexes: [{ name: 'newest-of-user', fields: [{ field: 'userId' }, { field: 'createdAt', order: 'desc' }] }],
  apply: (recorded) => {
    const event = recorded as Events;
    const { stream, revision, recordedAt } = event.context;
    const key = idOf(stream);
    const patch = (fields: Extract<Operation, { readonly op: 'patch' }>['fields']): readonly Operation[] => [
      { op: 'patch', key, fields: { ...fields, revision } },
    ];
    switch (event.type) {
      case 'ApiKeyCreated': {
        const { secretHash: _, ...fields } = event.data;
        return [
          {
            op: 'put',
            key,
            row: { id: key, ...fields, lastUsedAt: null, createdAt: recordedAt, revokedAt: null, revision },
          },
        ];
      }
      case 'ApiKeyChanged':
        return patch(givenFields(event.data));
      case 'ApiKeyAgentGranted':
        return patch({ agentIds: event.data.agentIds });
      case 'ApiKeySecretReplaced':
        return patch({ prefix: event.data.prefix });
      case 'ApiKeyRevoked':
        return event.data.withUser === true ? [{ op: 'remove', key }] : patch({ revokedAt: recordedAt });
      case 'ApiKeyUsed':
        return [{ op: 'patch', key: event.data.keyId, fields: { lastUsedAt: recordedAt } }];
      case 'UserDeleted':
        return [{ op: 'removeWhere', where: { userId: key } }];
      default:
        return never(event);
    }
  },
};
