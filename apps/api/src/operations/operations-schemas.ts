import { z } from 'zod';

const verification = z.object({
  position: z.string().nullable(),
  equal: z.boolean(),
  rows: z.number().int(),
  liveRows: z.number().int(),
  checksum: z.string(),
  liveChecksum: z.string(),
  differences: z.number().int(),
  listed: z.array(z.object({ key: z.string(), difference: z.enum(['missing', 'extra', 'changed']) })),
});

const rebuild = z.object({
  version: z.number().int(),
  done: z.number().int(),
  total: z.number().int(),
  rate: z.number(),
  etaSeconds: z.number().nullable(),
  state: z.enum(['building', 'paused', 'failed', 'verifying', 'ready', 'swapped', 'removing']),
  reason: z.enum(['asked', 'declaration', 'ahead-of-log', 'damaged']),
  failure: z.looseObject({ reason: z.string(), detail: z.string() }).optional(),
  verification: verification.optional(),
});

/** A view as operators see it (`ProjectionStatus`). */
export const projectionSchema = z.object({
  name: z.string(),
  version: z.number().int(),
  state: z.enum(['live', 'catching-up', 'rebuilding', 'paused', 'stopped']),
  position: z.string().nullable(),
  head: z.string().nullable(),
  lagEvents: z.number().int().nullable(),
  lagSeconds: z.number(),
  rows: z.number().int(),
  deadLetters: z.number().int(),
  rebuild: rebuild.optional(),
});

/** An event that could not be handled, without content (`DeadLetter`). */
export const deadLetterSchema = z.object({
  id: z.uuid(),
  source: z.enum(['projection', 'policy']),
  name: z.string(),
  eventId: z.uuid(),
  type: z.string(),
  stream: z.string(),
  revision: z.number().int(),
  position: z.string(),
  reason: z.enum(['unknown_type', 'schema', 'newer_schema', 'apply', 'sink', 'order', 'reaction']),
  detail: z.string(),
  attempts: z.number().int(),
  failedAt: z.string(),
});

/** What solving a dead letter left behind: the letter that stands now, null when its stream flows again. */
export const solvedSchema = z.object({ left: deadLetterSchema.nullable() });
