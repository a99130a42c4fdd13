import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';

/** The end of the write-ahead log, as SQLite will see it. */
export interface WalEnd {
  /** Frames that SQLite will replay. */
  readonly frames: number;
  /** A complete but invalid frame follows: a leftover of an earlier generation, or a damaged frame. */
  readonly wholeFrameFollows: boolean;
  /** Number of a damaged frame (from 1, 0: the header) of a commit that had reached the disk whole. */
  readonly damaged?: number;
}

const HEADER = 32;
const FRAME_HEADER = 24;
/** Bytes that reach the disk as a unit. */
const SECTOR = 512;
const MAGIC = 0x377f0682;
const NOTHING: WalEnd = { frames: 0, wholeFrameFollows: false };

/**
 * Looks at a write-ahead log before SQLite opens it, since SQLite takes the first frame that is not valid for its end, and
 * with it all commits behind. File format: sqlite.org/fileformat2.html, section 4.
 *
 * A commit is some frames, of which the last says so. It is synced before it is answered, and before the next one begins;
 * until then the disk may hold any of its frames and lack any other, the last one included. So a damaged frame is damage
 * only where its commit is known to have been synced: where a frame of a later commit goes on from its last. Each frame
 * stores the checksum up to itself, so a frame can be checked against what its predecessor stores even when that predecessor
 * is damaged. A commit that failed leaves frames behind the end too, but none that goes on from the last one of a commit.
 * Of the last commit the log alone does not tell whether it was answered: whoever opens it asks the head mark.
 */
export const checkWal = (path: string): WalEnd => {
  if (!existsSync(path)) return NOTHING;
  const file = openSync(path, 'r');
  try {
    return new WalFile(file, fstatSync(file).size).end();
  } finally {
    closeSync(file);
  }
};

type Checksum = readonly [number, number];

interface Frame {
  readonly isValid: boolean;
  /** The last frame of a commit, if the next frame continues its checksum. */
  readonly endsCommit: boolean;
  /** The stored checksum. */
  readonly next: Checksum;
}

class WalFile {
  private readonly header = Buffer.alloc(HEADER);
  private readonly salts = Buffer.alloc(8);
  private readonly frame: Buffer;
  private readonly isBigEndian: boolean;
  private readonly count: number;

  constructor(
    private readonly file: number,
    size: number,
  ) {
    if (size >= HEADER) readSync(file, this.header, 0, HEADER, 0);
    this.isBigEndian = this.header.readUInt32BE(0) === MAGIC + 1;
    const pageSize = this.header.readUInt32BE(8);
    const isPage = pageSize >= 512 && pageSize <= 65_536 && (pageSize & (pageSize - 1)) === 0;
    this.frame = Buffer.alloc(FRAME_HEADER + (isPage ? pageSize : 4096));
    this.count = size < HEADER ? 0 : Math.floor((size - HEADER) / this.frame.length);
  }

  end(): WalEnd {
    if (this.count === 0) return NOTHING;
    const isSound = this.headerIsValid();
    let stored = this.storedInHeader();
    let valid = isSound ? 0 : -1;
    let endsCommit = false;
    if (isSound) this.header.copy(this.salts, 0, 16, 24);
    for (let number = 1; number <= this.count; number += 1) {
      const frame = this.read(number, stored);
      stored = frame.next;
      // Without a header the generation is the one that the frame before belongs to.
      if (!isSound) this.frame.copy(this.salts, 0, 8, 16);
      if (frame.isValid && valid === number - 1) valid = number;
      else if (frame.isValid && endsCommit)
        return { frames: Math.max(0, valid), wholeFrameFollows: true, damaged: valid + 1 };
      endsCommit = frame.endsCommit;
    }
    return { frames: Math.max(0, valid), wholeFrameFollows: valid < this.count };
  }

  private storedInHeader(): Checksum {
    return [this.header.readUInt32BE(24), this.header.readUInt32BE(28)];
  }

  private headerIsValid(): boolean {
    const magic = this.header.readUInt32BE(0);
    const [a, b] = this.sum(this.header.subarray(0, 24), [0, 0]);
    const [c, d] = this.storedInHeader();
    return (magic === MAGIC || magic === MAGIC + 1) && a === c && b === d;
  }

  /** Whether a frame belongs to the generation and carries on from the checksum stored before it. */
  private read(number: number, before: Checksum): Frame {
    const at = HEADER + (number - 1) * this.frame.length;
    readSync(this.file, this.frame, 0, this.frame.length, at);
    const next: Checksum = [this.frame.readUInt32BE(16), this.frame.readUInt32BE(20)];
    const isValid = this.frame.compare(this.salts, 0, 8, 8, 16) === 0 && this.matches(before, next);
    // It says how many pages the database has then; of a header that was torn that may be old while its checksum is new.
    const endsCommit = this.frame.readUInt32BE(4) !== 0 && (isValid || (at % SECTOR) + FRAME_HEADER <= SECTOR);
    return { isValid, endsCommit, next };
  }

  private matches(before: Checksum, [first, second]: Checksum): boolean {
    const [a, b] = this.sum(this.frame.subarray(FRAME_HEADER), this.sum(this.frame.subarray(0, 8), before));
    return a === first && b === second;
  }

  private sum(bytes: Buffer, [first, second]: Checksum): Checksum {
    let a = first;
    let b = second;
    for (let at = 0; at < bytes.length; at += 8) {
      a = (a + (this.isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)) + b) >>> 0;
      b = (b + (this.isBigEndian ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4)) + a) >>> 0;
    }
    return [a, b];
  }
}
