import { defineEvent, heldBlob, releasedBlobs, sensitive, textSchema } from '@app/kernel';
import { z } from 'zod';

const id = z.uuid();

/** The level of Knowledge a document belongs to. */
export const documentScope = z.enum(['agent', 'space', 'global']);
export type DocumentScope = z.output<typeof documentScope>;

/** Longest text of a chunk that is edited by hand, characters. */
export const MAX_CHUNK_TEXT = 8_000;

/** What the search index is to hold of a document; it reads the passages from the blob. */
const searched = z.strictObject({
  documentId: id,
  scope: documentScope,
  spaceId: id.nullable(),
  agentId: id.nullable(),
  name: sensitive(textSchema(500)),
  tagIds: z.array(id),
  passages: heldBlob(),
  embeddingModel: z.string().nullable(),
  /** Revision of the document at which its content was indexed. */
  indexedRevision: z.number().int().nonnegative(),
});
export type Searched = z.output<typeof searched>;

export const documentDisabled = defineEvent({
  type: 'DocumentDisabled',
  description: 'A document was disabled. Searches do not find it until it is enabled again.',
  data: z.strictObject({}),
});

export const documentEnabled = defineEvent({
  type: 'DocumentEnabled',
  description:
    'A document was enabled again. `searched` is what searches find from now on; null if the document is not ingested.',
  data: z.strictObject({ searched: searched.nullable() }),
});

export const documentRetitled = defineEvent({
  type: 'DocumentRetitled',
  description:
    'The passages of a renamed document were embedded again with its new name. Searches found it all the time. `superseded` names the passages that these replace.',
  data: z.strictObject({
    searched,
    /** Whether the document is enabled. */
    documentEnabled: z.boolean(),
    superseded: releasedBlobs(),
  }),
});

export const documentChunkEdited = defineEvent({
  type: 'DocumentChunkEdited',
  description:
    'A user edited a chunk, or switched it on or off for searches. `text` is null if it did not change. `superseded` names the passages that these replace.',
  data: z.strictObject({
    chunkId: id,
    text: sensitive(textSchema(MAX_CHUNK_TEXT)).nullable(),
    /** Whether the chunk is searched. */
    enabled: z.boolean(),
    /** Whether its text is another than that of the content. */
    edited: z.boolean(),
    searched,
    /** Whether the document is enabled. */
    documentEnabled: z.boolean(),
    superseded: releasedBlobs(),
  }),
});
