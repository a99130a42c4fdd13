import { setImmediate } from 'node:timers/promises';
import type { Passage } from './search-index';

/** Passages handled without letting anybody else run. */
const STRIDE = 100;

/** Passages as the body of a blob: one JSON a line, vectors as base64 of little-endian floats. Lets others run in between. */
export const encodePassages = async (passages: readonly Passage[]): Promise<Buffer> => {
  const lines: Buffer[] = [];
  for (const [index, { vector, ...passage }] of passages.entries()) {
    if (index % STRIDE === STRIDE - 1) await setImmediate();
    lines.push(Buffer.from(`${JSON.stringify(vector === undefined ? passage : { ...passage, vector: Buffer.from(new Float32Array(vector).buffer).toString('base64') })}\n`));
  }
  return Buffer.concat(lines);
};

/** The passages of a blob. */
export const decodePassages = async (body: Buffer): Promise<readonly Passage[]> => {
  const passages: Passage[] = [];
  for (let start = 0; start < body.length; ) {
    if (passages.length % STRIDE === STRIDE - 1) await setImmediate();
    const end = body.indexOf(0x0a, start);
    const { vector, ...passage } = JSON.parse(body.toString('utf8', start, end)) as Omit<Passage, 'vector'> & { readonly vector?: string };
    passages.push(vector === undefined ? passage : { ...passage, vector: floats(vector) });
    start = end + 1;
  }
  return passages;
};

const floats = (base64: string): Float32Array => {
  const bytes = Uint8Array.from(Buffer.from(base64, 'base64'));
  return new Float32Array(bytes.buffer, 0, bytes.byteLength / Float32Array.BYTES_PER_ELEMENT);
};
