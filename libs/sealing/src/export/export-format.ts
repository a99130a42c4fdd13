import type { StoredEvent } from '@app/kernel';
import { z } from 'zod';

/**
 * The format of an export: JSON lines in UTF-8, gzipped if the file's name ends in `.gz`. A header, every event of
 * the log in order (seals included), a line for each stream whose beginning was removed, and a footer over all the
 * bytes before it.
 */
export const exportHeader = z.strictObject({
  format: z.literal('agent-platform/export'),
  version: z.literal(1),
  at: z.iso.datetime(),
  /** Who signed the seals, as the exporting instance says. */
  publicKey: z.string(),
  /** Ordinal of the last seal when the export began. */
  ordinal: z.number().int().nonnegative(),
});
export type ExportHeader = z.output<typeof exportHeader>;

/** `data` and `metadata` are the stored text, byte for byte: the seals are over them. */
export const exportedEvent = z.strictObject({
  stream: z.string(),
  revision: z.number().int().nonnegative(),
  id: z.string(),
  type: z.string(),
  data: z.string(),
  metadata: z.string(),
  /** Where it stood in the exporting log. */
  position: z.string(),
});

/** The events of a stream before a revision were removed rightfully; stands before the first that is left. */
export const exportedRemoval = z.strictObject({
  removed: z.strictObject({ stream: z.string(), before: z.number().int().positive() }),
});
export type ExportedRemoval = z.output<typeof exportedRemoval>['removed'];

export const exportFooter = z.strictObject({
  footer: z.strictObject({
    events: z.number().int().nonnegative(),
    /** SHA-256, hex, of every byte before this line, uncompressed. */
    sha256: z.string(),
  }),
});

/** What a line says. */
export type ExportItem =
  | { readonly kind: 'header'; readonly header: ExportHeader }
  | { readonly kind: 'event'; readonly event: StoredEvent }
  | { readonly kind: 'removed'; readonly removed: ExportedRemoval }
  | { readonly kind: 'footer'; readonly footer: z.output<typeof exportFooter>['footer'] }
  | { readonly kind: 'unreadable' };

export const eventLine = ({ stream, revision, id, type, data, metadata, position }: StoredEvent): string =>
  lineOf({ stream, revision, id, type, data, metadata, position });

export const lineOf = (value: object): string => `${JSON.stringify(value)}\n`;

/** How the line of an event of a stream begins; other lines need not be parsed to be passed over. */
export const beginsStream = (stream: string): Buffer => Buffer.from(`{"stream":${JSON.stringify(stream)},`);
