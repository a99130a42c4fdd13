import { posix } from 'node:path';
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import { ExtractionFailure, fail } from './extraction';

const MAX_ENTRIES = 10_000;
/** Deflate makes at most 1,032 bytes of one. What is honest and large stays far below. */
const MAX_RATIO = 300;
/** Bytes of an entry that may be repetitive to any degree. */
const SMALL = 16 * 1024 ** 2;

/** What is compressed in a file inflates too far together, such as the attachments of a mail, though one alone might not. */
export class InflatesTooFarTogether extends ExtractionFailure {
  constructor() {
    super('inflates_too_far');
  }
}

/** How far everything that is compressed in one file may inflate, bytes: what is attached to a mail counts with the rest. */
export class InflationLimit {
  private left: number;

  constructor(private readonly most: number) {
    this.left = most;
  }

  /** Throws `ExtractionFailure` `inflates_too_far` if something of so many bytes does not fit; `InflatesTooFarTogether` if it would alone. */
  assertFits(bytes: number): void {
    if (bytes > this.most) fail('inflates_too_far');
    if (bytes > this.left) throw new InflatesTooFarTogether();
  }

  /** Throws as `assertFits`. */
  take(bytes: number): void {
    this.assertFits(bytes);
    this.left -= bytes;
  }
}

/** A zip file in memory. Entries inflate as they are read, and all together no further than a limit. Nothing is written anywhere. */
export class Archive {
  private constructor(
    private readonly zip: ZipFile,
    private readonly entries: ReadonlyMap<string, Entry>,
    /** By their names in lower case: Office takes `SharedStrings.xml` for `sharedStrings.xml`. */
    private readonly inLowerCase: ReadonlyMap<string, Entry>,
    private readonly limit: InflationLimit,
  ) {}

  /** Throws `ExtractionFailure` `malformed`, `encrypted` or `inflates_too_far`. */
  static async open(body: Buffer, limit: InflationLimit): Promise<Archive> {
    return orMalformed(async () => {
      const zip = await fromBufferPromise(body, { lazyEntries: true, strictFileNames: false });
      if (zip.entryCount > MAX_ENTRIES) fail('inflates_too_far');
      const entries = new Map<string, Entry>();
      let declared = 0;
      for await (const entry of zip.eachEntry()) {
        if (entry.isEncrypted()) fail('encrypted');
        declared += entry.uncompressedSize;
        limit.assertFits(declared);
        entries.set(entry.fileName.replace(/^\/+/, ''), entry);
      }
      const inLowerCase = new Map([...entries].map(([name, entry]) => [name.toLowerCase(), entry]));
      return new Archive(zip, entries, inLowerCase, limit);
    });
  }

  has(name: string): boolean {
    return this.entry(name) !== undefined;
  }

  /** The names in the archive that match, in the order of their numbers. */
  names(pattern: RegExp): readonly string[] {
    return [...this.entries.keys()]
      .filter((name) => pattern.test(name))
      .toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  }

  /** The pieces of an entry as they inflate. Throws `ExtractionFailure`. */
  async *pieces(name: string): AsyncGenerator<Buffer> {
    const entry = this.entry(name) ?? fail('malformed');
    const stream = await orMalformed(() => this.zip.openReadStreamPromise(entry));
    let size = 0;
    try {
      for await (const piece of stream as AsyncIterable<Buffer>) {
        size += piece.length;
        this.limit.take(piece.length);
        if (size > SMALL && size > MAX_RATIO * entry.compressedSize) fail('inflates_too_far');
        yield piece;
      }
    } catch (error) {
      throw error instanceof ExtractionFailure ? error : new ExtractionFailure('malformed');
    } finally {
      stream.destroy();
    }
  }

  async read(name: string): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for await (const piece of this.pieces(name)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  private entry(name: string): Entry | undefined {
    return this.entries.get(name) ?? this.inLowerCase.get(name.toLowerCase());
  }
}

/** The name that a relative reference in an entry leads to. */
export const resolved = (from: string, target: string): string =>
  target.startsWith('/') ? posix.normalize(target).slice(1) : posix.normalize(posix.join(posix.dirname(from), target));

/** What the zip reader finds wrong is the file's fault. */
const orMalformed = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ExtractionFailure ? error : new ExtractionFailure('malformed');
  }
};
