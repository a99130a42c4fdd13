import { setImmediate } from 'node:timers/promises';
import type { Passage } from './search-index';

/** Passages handled without letting anybody else run. */
const STRIDE = 100;

/** A passage as its document holds it. */
export interface StoredPassage extends Passage {
  /** Its text was edited by hand, and is not that of the content. */
  readonly edited?: boolean;
  /** Hash of what its vector is of: its text behind the title and the headings. Absent where an earlier version did not say. */
  readonly embeddedAs?: string;
}

/** A passage as an index holds it. */
export const searchedPassage = (stored: StoredPassage): Passage => {
  const { edited: _, embeddedAs: __, ...passage } = stored;
  return passage;
};

/** Passages as the body of a blob: one JSON a line, vectors as base64 of little-endian floats. Lets others run in between. */
export const encodePassages = async (passages: readonly StoredPassage[]): Promise<Buffer> => {
  const lines: Buffer[] = [];
  for (const [index, { vector, ...passage }] of passages.entries()) {
    if (index % STRIDE === STRIDE - 1) await setImmediate();
    lines.push(
      Buffer.from(
        `${JSON.stringify(vector === undefined ? passage : { ...passage, vector: Buffer.from(new Float32Array(vector).buffer).toString('base64') })}\n`,
      ),
    );
  }
  return Buffer.concat(lines);
};

/** The passages of a blob. */
export const decodePassages = async (body: Buffer): Promise<readonly StoredPassage[]> => {
  const passages: StoredPassage[] = [];
  for (let start = 0; start < body.length;) {
    if (passages.length % STRIDE === STRIDE - 1) await setImmediate();
    const end = body.indexOf(NEWLINE, start);
    passages.push(decoded(body.subarray(start, end)));
    start = end + 1;
  }
  return passages;
};

/** The passages of a blob one by one from one on, as they are asked for; those before it are passed over undecoded. */
export async function* passagesFrom(pieces: AsyncIterable<Buffer>, first: number): AsyncGenerator<StoredPassage> {
  let number = 0;
  let held: Buffer[] = [];
  for await (const piece of pieces) {
    let start = 0;
    for (let end = piece.indexOf(NEWLINE); end !== -1; end = piece.indexOf(NEWLINE, start)) {
      if (number >= first) yield decoded(Buffer.concat([...held, piece.subarray(start, end)]));
      number += 1;
      held = [];
      start = end + 1;
    }
    held.push(piece.subarray(start));
  }
}

const NEWLINE = 0x0a;

const decoded = (line: Buffer): StoredPassage => {
  const { vector, ...passage } = JSON.parse(line.toString('utf8')) as Omit<StoredPassage, 'vector'> & {
    readonly vector?: string;
  };
  return vector === undefined ? passage : { ...passage, vector: floats(vector) };
};

const floats = (base64: string): Float32Array => {
  const bytes = Uint8Array.from(Buffer.from(base64, 'base64'));
  return new Float32Array(bytes.buffer, 0, bytes.byteLength / Float32Array.BYTES_PER_ELEMENT);
};
