import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';

/** How the write-ahead log ends, as SQLite will see it. */
export interface WalEnd {
  /** Frames that SQLite will replay. */
  readonly frames: number;
  /** A whole frame stands behind them that is not valid: another generation's leftover, or a damaged one. */
  readonly wholeFrameFollows: boolean;
  /** Number of a damaged frame (from 1, 0: the header) that valid frames of the same generation follow: never a torn tail. */
  readonly damaged?: number;
}

const HEADER = 32;
const FRAME_HEADER = 24;
const MAGIC = 0x377f0682;
const NOTHING: WalEnd = { frames: 0, wholeFrameFollows: false };

/**
 * Looks at a write-ahead log before SQLite opens it, since SQLite takes the first frame that is not valid for its end.
 * Each frame stores the checksum up to itself, so a frame can be checked against its predecessor's stored checksum even
 * when that predecessor is damaged. File format: sqlite.org/fileformat2.html, section 4.
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
    this.takeSalts(isSound);
    for (let number = 1; number <= this.count; number += 1) {
      const { isValid, next } = this.read(number, stored);
      stored = next;
      if (isValid && valid === number - 1) valid = number;
      else if (isValid) return { frames: Math.max(0, valid), wholeFrameFollows: true, damaged: valid + 1 };
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

  /** The generation is named by the header; where that is damaged, by the first frame. */
  private takeSalts(isSound: boolean): void {
    if (isSound) this.header.copy(this.salts, 0, 16, 24);
    else readSync(this.file, this.salts, 0, 8, HEADER + 8);
  }

  /** Whether a frame belongs to the generation and carries on from the checksum stored before it. */
  private read(number: number, before: Checksum): { isValid: boolean; next: Checksum } {
    readSync(this.file, this.frame, 0, this.frame.length, HEADER + (number - 1) * this.frame.length);
    const next: Checksum = [this.frame.readUInt32BE(16), this.frame.readUInt32BE(20)];
    if (this.frame.compare(this.salts, 0, 8, 8, 16) !== 0) return { isValid: false, next };
    const [a, b] = this.sum(this.frame.subarray(FRAME_HEADER), this.sum(this.frame.subarray(0, 8), before));
    return { isValid: a === next[0] && b === next[1], next };
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
