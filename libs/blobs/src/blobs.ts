/** Injection token of the `Blobs` port. */
export const BLOBS = Symbol('Blobs');

/** Where a large body stands: a random name that says nothing. */
export type BlobName = string;

/** The port of large bodies (files, extracted text, chunks with vectors). Each is encrypted under the data key of its thing. */
export interface Blobs {
  /** Stores a body durably and answers its name. `thing` is the stream whose key encrypts it; the key must exist or is made with `owner`. */
  put(thing: string, body: Buffer | AsyncIterable<Buffer>, owner: { readonly userId?: string; readonly spaceId?: string }): Promise<{ readonly name: BlobName; readonly size: number }>;
  /** The body; undefined when it, or the key of its thing, is gone. */
  get(thing: string, name: BlobName): Promise<Buffer | undefined>;
  /** Removes bodies; unknown names are passed over. */
  remove(names: readonly BlobName[]): Promise<void>;
  /** All names, for backup and sweeping: pages after a name. */
  list(after: BlobName | null, limit: number): Promise<readonly BlobName[]>;
  health(): Promise<{ readonly ok: boolean; readonly reason?: string }>;
}
