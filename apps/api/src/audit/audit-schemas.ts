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

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** An event of another program that verifiers need to know of (`NotedStranger`). */
export const foreignEventSchema = z.object({
  id: z.string(),
  position: z.string(),
  stream: z.string(),
  revision: z.number().int(),
  contentHash: sha256,
  inStreamOfOurs: z.boolean(),
  at: z.string(),
});

/** How many events others wrote, and the first of them (`ForeignEvents`). */
export const foreignEventsSchema = z.object({
  events: z.number().int(),
  since: z.object({ position: z.string(), at: z.string() }).nullable(),
});

/** The part of a seal that is signed, with its signature (`SealHead`). */
export const sealSchema = z.object({
  fromOrdinal: z.number().int(),
  ordinal: z.number().int(),
  root: sha256,
  previous: sha256,
  keyId: z.string(),
  at: z.string(),
  authenticated: z.literal(true).optional(),
  signature: z.string(),
});

export const sealKeySchema = z.object({ keyId: z.string(), algorithm: z.literal('Ed25519'), publicKey: z.string() });

/** What is needed to check one event against its seal (`Proof`): the leaf is made from `event`, and `path` leads to `seal.root`. */
export const proofSchema = z.object({
  event: z.object({ id: z.string(), stream: z.string(), revision: z.number().int(), content: sha256 }),
  ordinal: z.number().int(),
  index: z.number().int(),
  size: z.number().int(),
  path: z.array(sha256),
  seal: sealSchema,
});
