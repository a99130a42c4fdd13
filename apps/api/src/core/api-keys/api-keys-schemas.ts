import { permission, usageLimit } from '@app/identity';
import { givenAmount, nameSchema } from '@app/kernel';
import { apiKeyRow } from '@projections/api-keys';
import { z } from 'zod';
import { instant, listQuery, presenter } from '../../http';

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];
const limit = usageLimit.extend({ amount: givenAmount, includedAmount: givenAmount.nullable().exactOptional() });

const grants = {
  name: nameSchema(),
  agentIds: z.array(z.uuid()).max(1_000).transform(distinct),
  allAgents: z.boolean(),
  permissions: z.array(permission).transform(distinct),
  usageLimit: limit.nullable(),
  expiresAt: instant.nullable(),
};

export const newApiKey = z.strictObject({
  ...grants,
  /** Keys of the gateway alone need none. */
  agentIds: grants.agentIds.default([]),
  allAgents: grants.allAgents.default(false),
  usageLimit: grants.usageLimit.default(null),
  expiresAt: grants.expiresAt.default(null),
  /** For admins: whose key it is. */
  userId: z.uuid().optional(),
});

export const apiKeyChange = z.strictObject(grants).partial();

export const apiKeysQuery = listQuery({ userId: z.uuid().optional() });

export const apiKeyView = presenter(apiKeyRow);
export const createdApiKey = apiKeyRow.extend({ secret: z.string().optional() });
