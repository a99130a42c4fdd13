import { exposed, instant, listQuery, presenter } from '@app/http';
import { permission, usageLimit } from '@app/identity';
import { givenAmount, nameSchema } from '@app/kernel';
import { apiKeyRow } from '@projections/api-keys';
import { z } from 'zod';

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];
const limit = usageLimit.extend({
  amount: givenAmount.describe('The amount, a decimal.'),
  includedAmount: givenAmount
    .nullable()
    .exactOptional()
    .describe('The part of the amount that counts as included usage.'),
});

const grants = {
  name: nameSchema().describe('Its name.'),
  agentIds: z.array(z.uuid()).max(1_000).transform(distinct).describe('The Agents that it can use.'),
  allAgents: z.boolean().describe('Whether it can use every Agent of its user.'),
  permissions: z.array(permission).transform(distinct).describe('Its permissions.'),
  usageLimit: limit.nullable().describe('The most that its model calls can cost; null for no limit of its own.'),
  expiresAt: instant.nullable().describe('When it expires, ISO 8601 with an offset; null for never.'),
};

export const newApiKey = z.strictObject({
  ...grants,
  /** Keys of the gateway alone need none. */
  agentIds: grants.agentIds.default([]),
  allAgents: grants.allAgents.default(false),
  usageLimit: grants.usageLimit.default(null),
  expiresAt: grants.expiresAt.default(null),
  userId: z.uuid().optional().describe('For admins: the user it belongs to. By default, the caller.'),
});

export const apiKeyUpdate = z.strictObject(grants).partial();

export const apiKeysQuery = listQuery({
  userId: z.uuid().optional().describe('For admins: the user whose keys to list.'),
});

export const apiKeyView = presenter(
  'ApiKey',
  exposed(apiKeyRow, {
    id: true,
    name: 'Its name.',
    prefix: 'The start of its secret, to identify the key.',
    userId: 'The user it belongs to.',
    agentIds: 'The Agents that it can use.',
    allAgents: 'Whether it can use every Agent of its user.',
    permissions: 'Its permissions.',
    usageLimit: 'The most that its model calls can cost; null for no limit of its own.',
    expiresAt: 'When it expires, ISO 8601 in UTC; null for never.',
    lastUsedAt: 'When it was last used, ISO 8601 in UTC; null if never.',
    createdAt: true,
    revokedAt: 'When it was revoked, ISO 8601 in UTC, or null.',
    revision: true,
  }),
);
export const createdApiKey = apiKeyView.schema
  .extend({ secret: z.string().optional().describe('The secret to send in `x-api-key`. It is not shown again.') })
  .meta({ id: 'CreatedApiKey' });
