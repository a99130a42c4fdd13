import { jsonValue, presenter } from '@app/http';
import type { NotedForeignEvent, SealHead } from '@app/sealing';
import { z } from 'zod';

/** An event as auditors read it (`ShownEvent`). */
export const shownEventSchema = z
  .object({
    id: z.uuid().describe('The id of the event.'),
    position: z.string().describe('Its position in the log: opaque text that only increases.'),
    ordinal: z
      .number()
      .int()
      .nullable()
      .describe('Its number among all events, assigned by the sealer; null until then.'),
    stream: z.string().describe('The stream it belongs to.'),
    revision: z.number().int().describe('Its revision in the stream.'),
    type: z.string().describe('What happened.'),
    schema: z.number().int().describe('The schema version of its data.'),
    data: z
      .record(z.string(), jsonValue)
      .describe(
        'Its data. Encrypted fields are `{ "encrypted": true }`, erased ones `{ "erased": true }`, and damaged ones `{ "unreadable": true }`.',
      ),
    meta: z.record(z.string(), z.string()).describe('Who requested it, and why.'),
    recordedAt: z.string().describe('A time, ISO 8601 in UTC.'),
    raw: z
      .object({
        data: z.base64().describe('The data, base64.'),
        metadata: z.base64().describe('The metadata, base64.'),
      })
      .optional()
      .describe('The stored bytes that seals cover, with `raw=true`.'),
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
          before: jsonValue.describe('The previous value.'),
          after: jsonValue.describe('The new value.'),
        }),
      )
      .describe('What it changed.'),
  })
  .meta({ id: 'ObjectChange' });

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** An event of another program that verifiers need to know of (`NotedForeignEvent`). */
export const foreignEventView = presenter<NotedForeignEvent>(
  'ForeignEvent',
  z.object({
    id: z.string().describe('The id of the event.'),
    position: z.string().describe('Its position in the log.'),
    stream: z.string().describe('The stream it belongs to.'),
    revision: z.number().int().describe('Its revision in the stream.'),
    contentHash: sha256.describe('SHA-256 of its stored bytes, hexadecimal.'),
    inStreamOfOurs: z.boolean().describe('Whether it is in a stream of the platform.'),
    at: z.string().describe('A time, ISO 8601 in UTC.'),
  }),
);

/** How many events others wrote, and the first of them (`ForeignEvents`). */
export const foreignEventsSchema = z.object({
  events: z.number().int().describe('The number of them.'),
  since: z
    .object({
      position: z.string().describe('The position of the first.'),
      at: z.string().describe('A time, ISO 8601 in UTC.'),
    })
    .nullable()
    .describe('Where they begin; null if there are none.'),
});

/** The part of a seal that is signed, with its signature (`SealHead`). */
export const sealView = presenter<SealHead>(
  'Seal',
  z.object({
    fromOrdinal: z.number().int().describe('The ordinal of its first event.'),
    ordinal: z.number().int().describe('The ordinal of its last event.'),
    root: sha256.describe('The Merkle root of its events, hexadecimal.'),
    previous: sha256.describe('The hash of the previous seal, hexadecimal.'),
    keyId: z.string().describe('The key that signed it.'),
    at: z.string().describe('A time, ISO 8601 in UTC.'),
    authenticated: z
      .literal(true)
      .optional()
      .describe('States that each event was checked by its authentication code.'),
    signature: z.string().describe('Ed25519, base64.'),
  }),
);

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
        stream: z.string().describe('The stream it belongs to.'),
        revision: z.number().int().describe('Its revision in the stream.'),
        content: sha256.describe('SHA-256 of its stored bytes, hexadecimal.'),
      })
      .describe('The event that is proven.'),
    ordinal: z.number().int().describe('The ordinal of the event.'),
    index: z.number().int().describe('The index of its leaf in the tree.'),
    size: z.number().int().describe('The number of leaves in the tree.'),
    path: z.array(sha256).describe('The hashes from the leaf to the root, hexadecimal.'),
    seal: sealView.schema.describe('The seal over the event.'),
  })
  .meta({ id: 'EventProof' });
