import { exposed, instant, listQuery, presenter } from '@app/http';
import { permission, usageLimit } from '@app/identity';
import { givenAmount, nameSchema } from '@app/kernel';
import { apiKeyRow } from '@projections/api-keys';
import { z } from 'zod';

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];
const limit = usageLimit.extend({
  amount: givenAmount.describe('The amount, a decimal.'),
  includedAmount: givenAmount.nullable().exactOptional().describe('The part of the amount that is included usage.'),
});

const grants = {
  name: nameSchema().describe('Its name.'),
  agentIds: z.array(z.uuid()).max(1_000).transform(distinct).describe('The Agents that it is granted.'),
  allAgents: z.boolean().describe('Whether it is granted every Agent of its user.'),
  permissions: z.array(permission).transform(distinct).describe('What it may do.'),
  usageLimit: limit.nullable().describe('What its model calls may cost; null: no limit of its own.'),
  expiresAt: instant.nullable().describe('When it ends, ISO 8601 with an offset; null: never.'),
};

export const newApiKey = z.strictObject({
  ...grants,
  /** Keys of the gateway alone need none. */
  agentIds: grants.agentIds.default([]),
  allAgents: grants.allAgents.default(false),
  usageLimit: grants.usageLimit.default(null),
  expiresAt: grants.expiresAt.default(null),
  userId: z.uuid().optional().describe('For admins: whose key it is. By default the caller.'),
});

export const apiKeyUpdate = z.strictObject(grants).partial();

export const apiKeysQuery = listQuery({ userId: z.uuid().optional().describe('For admins: whose keys to list.') });

export const apiKeyView = presenter(
  'ApiKey',
  exposed(apiKeyRow, {
    id: true,
    name: 'Its name.',
    prefix: 'The start of its secret, to tell keys apart.',
    userId: 'Whose key it is.',
    agentIds: 'The Agents that it is granted.',
    allAgents: 'Whether it is granted every Agent of its user.',
    permissions: 'What it may do.',
    usageLimit: 'What its model calls may cost; null: no limit of its own.',
    expiresAt: 'When it ends, ISO 8601 in UTC; null: never.',
    lastUsedAt: 'When it was used last, ISO 8601 in UTC; null: never.',
    createdAt: true,
    revokedAt: 'When it was revoked, ISO 8601 in UTC, or null.',
    revision: true,
  }),
);
export const createdApiKey = apiKeyView.schema
  .extend({ secret: z.string().optional().describe('What requests send as x-api-key. It is not shown again.') })
  .meta({ id: 'CreatedApiKey' });
