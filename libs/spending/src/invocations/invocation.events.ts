import { defineEvent, nanoText } from '@app/kernel';
import { unitUsage } from '@app/models';
import { z } from 'zod';

const tokens = z.number().int().nonnegative();

/** One model call as it is billed. Ids, numbers and names of models, no content. */
export const recordedInvocation = z.strictObject({
  id: z.uuid(),
  /** When it began, ISO 8601 UTC: the window that it counts in. */
  at: z.iso.datetime(),
  kind: z.enum(['chat', 'embedding', 'rerank', 'image', 'speech', 'transcription']),
  userId: z.string(),
  apiKeyId: z.string().nullable(),
  agentId: z.string().nullable(),
  spaceId: z.string().nullable(),
  /** Key of the model that answered. */
  model: z.string(),
  /** Names the prices that it was billed under (`ModelOffered`). */
  priceVersion: z.string(),
  /** The full input, cached reads included. */
  inputTokens: tokens,
  cacheReadTokens: tokens,
  cacheWriteTokens: tokens,
  /** Reasoning included. */
  outputTokens: tokens,
  reasoningTokens: tokens,
  /** Of images, speech and transcription. */
  units: unitUsage.exactOptional(),
  /** Nano-units of `currency`. */
  cost: nanoText,
  currency: z.string(),
  /** Covered by an included amount; decided when the call was let through. */
  isIncludedUsage: z.boolean(),
  /** `counted`: the provider reported nothing, or nothing believable. `held`: the call was broken off before it could, and is billed what may have been made by then, at most what was held. */
  usageSource: z.enum(['upstream', 'counted', 'held']),
  latencyMs: z.number().int().nonnegative(),
  outcome: z.enum(['ok', 'failed', 'aborted']),
});
export type RecordedInvocation = z.output<typeof recordedInvocation>;

export const invocationsRecorded = defineEvent({
  type: 'InvocationsRecorded',
  description: 'Model calls ended. Calls that end at about the same time are recorded together; each has its own id.',
  data: z.strictObject({ invocations: z.array(recordedInvocation).min(1) }),
});
