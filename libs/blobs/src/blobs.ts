import type { KeyOwner } from '@app/kernel';

/** Injection token of the `Blobs` port. */
export const BLOBS = Symbol('Blobs');

/** Where a large body stands: a random name that says nothing. */
export type BlobName = string;

/** A body that is being read. */
export interface OpenBody {
  /** Bytes. */
  readonly size: number;
  /**
   * The body in pieces of at most 64 KiB, read and decrypted as they are asked for, once. Throws `BlobDamaged` where it is
   * not what was stored any more: what was given until then was.
   */
  readonly pieces: AsyncIterable<Buffer>;
}

/** The port of large bodies (files, extracted text, chunks with vectors). Each is encrypted under the data key of its thing. */
export interface Blobs {
  /**
   * Stores a body durably and answers its name. `thing` is the stream whose key encrypts it; the key must exist or is made
   * with `owner`. When the body's iterable throws, nothing is left behind and its error is passed on.
   */
  put(
    thing: string,
    body: Buffer | AsyncIterable<Buffer>,
    owner: KeyOwner,
  ): Promise<{ readonly name: BlobName; readonly size: number }>;
  /** The body to be read piece by piece; undefined when it, or the key of its thing, is gone. Throws `BlobDamaged` when its beginning is not what was stored. */
  open(thing: string, name: BlobName): Promise<OpenBody | undefined>;
  /** The whole body; undefined when it, or the key of its thing, is gone. Throws `BlobDamaged` when it is not what was stored. */
  get(thing: string, name: BlobName): Promise<Buffer | undefined>;
  /** Removes bodies; unknown names are passed over. */
  remove(names: readonly BlobName[]): Promise<void>;
  /** All names in order, for backup and sweeping: pages after a name. */
  list(after: BlobName | null, limit: number): Promise<readonly BlobName[]>;
  /** When a body was stored here; undefined when it is gone. */
  storedAt(name: BlobName): Promise<Date | undefined>;
  /** A body as it is kept, encrypted, to be carried to another store; undefined when it is gone. */
  readStored(name: BlobName): Promise<Buffer | undefined>;
  /** Keeps a body that `readStored` of another store gave, under its name; again and again, if need be. */
  writeStored(name: BlobName, stored: Buffer): Promise<void>;
  health(): Promise<{ readonly ok: boolean; readonly reason?: string }>;
}

/** A stored body that was truncated, changed, or put in the place of another: nothing of it is served that is not proven, and no end. */
export class BlobDamaged extends Error {
  override readonly name = 'BlobDamaged';

  constructor(
    readonly blob: BlobName,
    detail: string,
    options?: ErrorOptions,
  ) {
    super(`blob ${blob} is damaged: ${detail}`, options);
  }
}
