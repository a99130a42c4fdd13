import { amountText, defineEvent, type EventsOf, nameSchema, sensitive, timeZoneName } from '@app/kernel';
import { z } from 'zod';
import { permission } from './permissions';

/**
 * The spend limit of a key in a window: a decimal amount in the currency of the instance. It is the limit of the key
 * in cost control, which may also set a time zone, an included amount, and a warning only.
 */
export const usageLimit = z.strictObject({
  amount: amountText.describe('The amount, a decimal.'),
  window: z.enum(['day', 'week', 'month', 'total']).describe('The window that it applies to.'),
  timeZone: timeZoneName.exactOptional().describe('The time zone of the window.'),
  action: z.enum(['block', 'warn']).exactOptional().describe('What happens when it is exceeded.'),
  includedAmount: amountText
    .nullable()
    .exactOptional()
    .describe('The part of the amount that counts as included usage.'),
});
export type UsageLimit = z.output<typeof usageLimit>;

const id = z.uuid();

const grants = {
  name: sensitive(nameSchema()),
  agentIds: z.array(id),
  allAgents: z.boolean(),
  permissions: z.array(permission),
  usageLimit: usageLimit.nullable(),
  expiresAt: z.iso.datetime().nullable(),
};

/** Keyed hash of the secret, encrypted, since nobody but the check of a key has use for it; the secret itself is shown once and kept nowhere. */
const secret = { prefix: z.string(), secretHash: sensitive(z.string()) };

export const apiKeyCreated = defineEvent({
  type: 'ApiKeyCreated',
  description: 'An API key was created for a user.',
  data: z.strictObject({ userId: id, ...secret, ...grants }),
});

export const apiKeyChanged = defineEvent({
  type: 'ApiKeyChanged',
  description: 'Fields of an API key changed; absent ones did not.',
  data: z.strictObject(grants).partial(),
});

export const apiKeyAgentGranted = defineEvent({
  type: 'ApiKeyAgentGranted',
  description:
    'An API key created an Agent and may now use it. `agentIds` lists all Agents that the key may use from now on.',
  data: z.strictObject({ agentId: id, agentIds: z.array(id) }),
});

export const apiKeySecretReplaced = defineEvent({
  type: 'ApiKeySecretReplaced',
  description: 'The configuration gave the bootstrap key a new secret. The old one is rejected.',
  data: z.strictObject(secret),
});

export const apiKeyRevoked = defineEvent({
  type: 'ApiKeyRevoked',
  description: 'An API key was revoked permanently. `withUser`: it was created for a user who had just been deleted.',
  data: z.strictObject({ withUser: z.boolean().optional() }),
});

export const apiKeyUsed = defineEvent({
  type: 'ApiKeyUsed',
  description: 'An API key was used. Recorded at most every ten minutes, in a stream of its own.',
  data: z.strictObject({ keyId: id }),
});

export const apiKeyEvents = [
  apiKeyCreated,
  apiKeyChanged,
  apiKeyAgentGranted,
  apiKeySecretReplaced,
  apiKeyRevoked,
  apiKeyUsed,
] as const;
export type ApiKeyEvent = EventsOf<
  [
    typeof apiKeyCreated,
    typeof apiKeyChanged,
    typeof apiKeyAgentGranted,
    typeof apiKeySecretReplaced,
    typeof apiKeyRevoked,
  ]
>;
