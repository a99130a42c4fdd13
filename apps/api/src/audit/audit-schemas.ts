import { z } from 'zod';

/** A value of any JSON type. */
const json = z.json();

/** An event as auditors read it (`ShownEvent`). */
export const shownEventSchema = z.object({
  id: z.uuid(),
  position: z.string(),
  ordinal: z.number().int().nullable(),
  stream: z.string(),
  revision: z.number().int(),
  type: z.string(),
  schema: z.number().int(),
  data: z.record(z.string(), json),
  meta: z.record(z.string(), z.string()),
  recordedAt: z.string(),
  raw: z.object({ data: z.base64(), metadata: z.base64() }).optional(),
});

export const historyItemSchema = z.object({
  position: z.string(),
  at: z.string(),
  actor: z.string(),
  type: z.string(),
  changes: z.array(z.object({ path: z.string(), before: json, after: json })),
});
