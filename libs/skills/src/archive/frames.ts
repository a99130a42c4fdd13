import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { SkillFailureCode, SkillFault, SkillFile, SkillLimits } from './skill';
import type { SkillText } from './skill-text';

/** What is asked of the process that reads Skills; the bytes follow. */
export interface ReadOrder {
  /** `text` is one `SKILL.md`, `skill` an archive of one Skill, `skills` of any number. */
  readonly read: 'text' | 'skill' | 'skills';
  /** What a `SKILL.md` is called. */
  readonly filename: string;
  readonly limits: SkillLimits;
  /** The process that asks. */
  readonly parent: number;
}

/** Why something is no Skill, as it goes between processes. */
export interface Failed {
  readonly code: SkillFailureCode;
  readonly sentence: string;
  readonly fault: SkillFault;
}

/** What the process says, in order: Skills, each before its files, then the end or the failure of all. */
export type Frame =
  | { readonly skill: SkillText }
  /** Its bytes follow. */
  | { readonly file: Omit<SkillFile, 'bytes'> }
  | { readonly failedSkill: { readonly path: string } & Failed }
  | { readonly failed: Failed }
  /** Paths of files that belong to no Skill. */
  | { readonly ignored: readonly string[] }
  | { readonly end: true };

const LENGTH_BYTES = 4;

/** A frame: the length of its JSON in four bytes, then that. */
export const framed = (frame: Frame | ReadOrder): Buffer => {
  const json = Buffer.from(JSON.stringify(frame));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(json.length);
  return Buffer.concat([length, json]);
};

/** What is written at once. */
const PIECE_BYTES = 64 * 1024;

/** Writes frames and the bytes that follow them to a stream: what is small together, since each write takes as long as to inflate some kilobytes. */
export class FrameWriter {
  private held: Buffer[] = [];
  private heldBytes = 0;

  constructor(private readonly to: Writable) {}

  /** Resolves once the stream takes more. */
  async write(frame: Frame, bytes?: Buffer): Promise<void> {
    for (const piece of bytes === undefined ? [framed(frame)] : [framed(frame), bytes]) {
      this.held.push(piece);
      this.heldBytes += piece.length;
    }
    if (this.heldBytes >= PIECE_BYTES) await this.flush();
  }

  /** Writes what is held. */
  async flush(): Promise<void> {
    const pieces = this.held;
    [this.held, this.heldBytes] = [[], 0];
    this.to.cork();
    const takesMore = pieces.map((piece) => this.to.write(piece)).at(-1) ?? true;
    this.to.uncork();
    if (!takesMore) await once(this.to, 'drain');
  }
}

/** Reads frames and the bytes that follow them from a stream, holding no more than it was asked for. */
export class FrameReader {
  private readonly pieces: AsyncIterator<Buffer>;
  private rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.pieces = source[Symbol.asyncIterator]();
  }

  /** Undefined where the stream ends before a whole one. */
  async frame<T>(): Promise<T | undefined> {
    const length = await this.bytes(LENGTH_BYTES);
    const json = length === undefined ? undefined : await this.bytes(length.readUInt32BE(0));
    return json === undefined ? undefined : (JSON.parse(json.toString('utf8')) as T);
  }

  /** Undefined where the stream ends before. */
  async bytes(count: number): Promise<Buffer | undefined> {
    const bytes = Buffer.allocUnsafeSlow(count);
    let filled = 0;
    while (filled < count) {
      if (this.rest.length === 0) {
        const { value, done } = await this.pieces.next();
        if (done === true) return undefined;
        this.rest = value;
      }
      const piece = this.rest.subarray(0, count - filled);
      piece.copy(bytes, filled);
      filled += piece.length;
      this.rest = this.rest.subarray(piece.length);
    }
    return bytes;
  }
}
