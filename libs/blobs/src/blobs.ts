import { randomBytes } from 'node:crypto';
import type { KeyOwner } from '@app/kernel';

/** Injection token of the `Blobs` port. */
export const BLOBS = Symbol('Blobs');

/** The random name of a stored body. It reveals nothing. */
export type BlobName = string;

/** A body that is being read. */
export interface OpenBody {
  /** Bytes. */
  readonly size: number;
  /**
   * The body in pieces of at most 64 KiB, read and decrypted on demand, once. Throws `BlobDamaged` where it is no longer what
   * was stored; the pieces before are sound.
   */
  readonly pieces: AsyncIterable<Buffer>;
}

/** A body that was stored: its name, and the bytes that it has. */
export interface PutBody {
  readonly name: BlobName;
  readonly size: number;
}

/** The arguments of `Blobs.put`: stream, body, and the owner of the key where one is made. */
export type PutArguments = Parameters<Blobs['put']>;

/** Bodies that are stored together, and named by one event. */
export interface BlobGroup {
  /** As `Blobs.put`, but durable no sooner than `durable` has returned. */
  put(...given: PutArguments): Promise<PutBody>;
  /** Returns once all that was put is durable. */
  durable(): Promise<void>;
}

/** The port of large bodies (files, extracted text, chunks with vectors). Each is encrypted under the data key of its aggregate. */
export interface Blobs {
  /**
   * Stores a body durably and answers its name. `stream` is the one whose key encrypts it; the key must exist or is made
   * with `owner`. If the body's iterable throws, nothing is left behind and its error is passed on.
   */
  put(stream: string, body: Buffer | AsyncIterable<Buffer>, owner: KeyOwner): Promise<PutBody>;
  /** For bodies that are stored together: sooner than one by one, and in one place, where all are sooner looked at. */
  group(): BlobGroup;
  /** The body, to read piece by piece; undefined if it, or its key, is gone. Throws `BlobDamaged` if its beginning is not what was stored. */
  open(stream: string, name: BlobName): Promise<OpenBody | undefined>;
  /** The whole body; undefined if it, or its key, is gone. Throws `BlobDamaged` if it is not what was stored. */
  get(stream: string, name: BlobName): Promise<Buffer | undefined>;
  /** Removes bodies. Ignores unknown names. */
  remove(names: readonly BlobName[]): Promise<void>;
  /** All names in order, for backup and sweeping: pages after a name. */
  list(after: BlobName | null, limit: number): Promise<readonly BlobName[]>;
  /** Whether each of these is stored. Asks for those of a group together. */
  haveAll(names: readonly BlobName[]): Promise<boolean>;
  /** When a body was stored here; undefined if it is gone. */
  storedAt(name: BlobName): Promise<Date | undefined>;
  /** A body as stored, encrypted, to copy to another store; undefined if it is gone. */
  readStored(name: BlobName): Promise<Buffer | undefined>;
  /** Stores a body that `readStored` of another store gave, under its name. May be repeated. */
  writeStored(name: BlobName, stored: Buffer): Promise<void>;
  health(): Promise<{ readonly ok: boolean; readonly reason?: string }>;
}

/** A stored body was truncated, changed, or replaced by another. Only proven parts of it are served, and no end. */
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

const NAME = /^[0-9a-f]{32}$/;

/** Digits of a name that say where its body stands. */
export const PLACE_DIGITS = 2;

/** A new name; `beside` another it stands in the same place. */
export const newBlobName = (beside = ''): BlobName => {
  const random = randomBytes(16).toString('hex');
  return `${beside.slice(0, PLACE_DIGITS)}${random.slice(Math.min(beside.length, PLACE_DIGITS))}`;
};

/** Names by the place in which they stand. */
export const byPlace = (names: readonly BlobName[]): ReadonlyMap<string, readonly BlobName[]> =>
  Map.groupBy(names, (name) => name.slice(0, PLACE_DIGITS));

/** Names from elsewhere are looked at before they become a path or a key. */
export const isBlobName = (text: string): text is BlobName => NAME.test(text);
