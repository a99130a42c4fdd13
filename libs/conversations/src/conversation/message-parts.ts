import { placeFields, textSchema } from '@app/kernel';
import { z } from 'zod';

const text = (max = 4_000_000) => textSchema(max);

export const textPart = z.strictObject({ type: z.literal('text'), text: text() });

/** A source that the answer cites: what it said, pinned by hash and revision (wire, Message). */
export const sourceDocumentPart = z.strictObject({
  type: z.literal('source-document'),
  sourceId: z.string(),
  documentId: z.uuid(),
  /** Revision of the document at which the passage was indexed: `indexedRevision` of the document then. */
  documentRevision: z.number().int().nonnegative(),
  /** SHA-256 of the passage's text, hex. */
  chunkHash: z.string(),
  title: text(),
  mediaType: z.string(),
  /** Character offsets in the document's extracted text. */
  position: z.strictObject({
    start: z.number().int(),
    end: z.number().int(),
    ...placeFields,
    heading: text().exactOptional(),
  }),
  quote: text(),
});

export const messagePart = z.discriminatedUnion('type', [textPart, sourceDocumentPart]);

export type TextPart = z.output<typeof textPart>;
export type SourceDocumentPart = z.output<typeof sourceDocumentPart>;
export type MessagePart = z.output<typeof messagePart>;

/** The text of a message, its parts joined by empty lines. */
export const textOf = (parts: readonly MessagePart[]): string =>
  parts
    .filter((part) => part.type === 'text')
    .map((part) => part.text)
    .join('\n\n');
