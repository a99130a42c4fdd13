import { jsonValue } from '@app/http';
import { z } from 'zod';

/** An event as auditors read it (`ShownEvent`). */
export const shownEventSchema = z
  .object({
    id: z.uuid().describe('The id of the event.'),
    position: z.string().describe('Its place in the log: opaque text that only increases.'),
    ordinal: z.number().int().nullable().describe('Its number among all events, given by the sealer; null until then.'),
    stream: z.string().describe('The stream that it stands in.'),
    revision: z.number().int().describe('Its place in the stream.'),
    type: z.string().describe('What happened.'),
    schema: z.number().int().describe('The version of its data.'),
    data: z
      .record(z.string(), jsonValue)
      .describe(
        'What it says. Encrypted fields read `{ "encrypted": true }`, erased ones `{ "erased": true }`, and what was damaged in the log `{ "unreadable": true }`.',
      ),
    meta: z.record(z.string(), z.string()).describe('Who asked for it, and why.'),
    recordedAt: z.string().describe('A time, ISO 8601 in UTC.'),
    raw: z
      .object({
        data: z.base64().describe('The data, base64.'),
        metadata: z.base64().describe('The metadata, base64.'),
      })
      .optional()
      .describe('The stored bytes that seals are over, with `raw=true`.'),
  })
  .meta({ id: 'Event' });

export const historyItemSchema = z
  .object({
    position: z.string().describe('The position of the event.'),
    at: z.string().describe('A time, ISO 8601 in UTC.'),
    actor: z.string().describe('Who did it.'),
    type: z.string().describe('The type of the event.'),
    changes: z
      .array(
        z.object({
          path: z.string().describe('The field.'),
          before: jsonValue.describe('Its value before.'),
          after: jsonValue.describe('Its value after.'),
        }),
      )
      .describe('What it changed.'),
  })
  .meta({ id: 'ObjectChange' });

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** An event of another program that verifiers need to know of (`NotedForeignEvent`). */
export const foreignEventSchema = z
  .object({
    id: z.string().describe('The id of the event.'),
    position: z.string().describe('Its place in the log.'),
    stream: z.string().describe('The stream that it stands in.'),
    revision: z.number().int().describe('Its place in the stream.'),
    contentHash: sha256.describe('SHA-256 of its stored bytes, hexadecimal.'),
    inStreamOfOurs: z.boolean().describe('Whether it stands in a stream of the platform.'),
    at: z.string().describe('A time, ISO 8601 in UTC.'),
  })
  .meta({ id: 'ForeignEvent' });

/** How many events others wrote, and the first of them (`ForeignEvents`). */
export const foreignEventsSchema = z.object({
  events: z.number().int().describe('How many there are.'),
  since: z
    .object({
      position: z.string().describe('The position of the first.'),
      at: z.string().describe('A time, ISO 8601 in UTC.'),
    })
    .nullable()
    .describe('Where they begin; null where there are none.'),
});

/** The part of a seal that is signed, with its signature (`SealHead`). */
export const sealSchema = z
  .object({
    fromOrdinal: z.number().int().describe('The ordinal of its first event.'),
    ordinal: z.number().int().describe('The ordinal of its last event.'),
    root: sha256.describe('The Merkle root of its events, hexadecimal.'),
    previous: sha256.describe('The hash of the seal before, hexadecimal.'),
    keyId: z.string().describe('The key that signed it.'),
    at: z.string().describe('A time, ISO 8601 in UTC.'),
    authenticated: z.literal(true).optional().describe('That each event is checked by its authentication code.'),
    signature: z.string().describe('Ed25519, base64.'),
  })
  .meta({ id: 'Seal' });

export const sealKeySchema = z
  .object({
    keyId: z.string().describe('The id of the key.'),
    algorithm: z.literal('Ed25519').describe('The algorithm of its signatures.'),
    publicKey: z.string().describe('The public key.'),
  })
  .meta({ id: 'SealKey' });

/** What is needed to check one event against its seal (`Proof`): the leaf is made from `event`, and `path` leads to `seal.root`. */
export const proofSchema = z
  .object({
    event: z
      .object({
        id: z.string().describe('The id of the event.'),
        stream: z.string().describe('The stream that it stands in.'),
        revision: z.number().int().describe('Its place in the stream.'),
        content: sha256.describe('SHA-256 of its stored bytes, hexadecimal.'),
      })
      .describe('The event that is proven.'),
    ordinal: z.number().int().describe('The ordinal of the event.'),
    index: z.number().int().describe('The place of its leaf in the tree.'),
    size: z.number().int().describe('How many leaves the tree has.'),
    path: z.array(sha256).describe('The hashes from the leaf to the root, hexadecimal.'),
    seal: sealSchema.describe('The seal over the event.'),
  })
  .meta({ id: 'EventProof' });
