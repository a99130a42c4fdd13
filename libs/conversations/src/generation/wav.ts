/** A WAV file: the format and the place of its samples. */
export interface Wav {
  /** The chunk `fmt `, without its head. */
  readonly format: Buffer;
  readonly samples: Buffer;
  readonly bytesPerSecond: number;
}

/** PCM: whole numbers, floating point, and either with more channels. */
const WHOLE_SAMPLES: readonly number[] = [1, 3, 0xfffe];
const HEAD = 12;
const CHUNK_HEAD = 8;

/** Reads a WAV file; undefined if it is not one. A stream states a wrong length: then the sound extends to the end. */
export const readWav = (data: Uint8Array): Wav | undefined => {
  const file = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (file.length < HEAD || file.toString('latin1', 0, 4) !== 'RIFF' || file.toString('latin1', 8, HEAD) !== 'WAVE')
    return undefined;
  let format: Buffer | undefined;
  for (let at = HEAD; at + CHUNK_HEAD <= file.length;) {
    const name = file.toString('latin1', at, at + 4);
    const end = at + CHUNK_HEAD + file.readUInt32LE(at + 4);
    const body = file.subarray(at + CHUNK_HEAD, Math.min(end, file.length));
    if (name === 'fmt ' && body.length >= 16) format = body;
    if (name === 'data' && format !== undefined) {
      const bytesPerSecond = bytesPerSecondOf(format);
      return bytesPerSecond === 0 ? undefined : { format, samples: body, bytesPerSecond };
    }
    // Chunks begin at even places.
    at = end + (end % 2);
  }
  return undefined;
};

/** With whole samples it follows from their format, as in players; the value in the header may be wrong. */
const bytesPerSecondOf = (format: Buffer): number => {
  const told = format.readUInt32LE(8);
  if (!WHOLE_SAMPLES.includes(format.readUInt16LE(0))) return told;
  return format.readUInt32LE(4) * format.readUInt16LE(2) * Math.ceil(format.readUInt16LE(14) / 8);
};

/** One file of the samples of several; undefined where they are written in different ways. */
export const joinedWav = (files: readonly Wav[]): Buffer | undefined => {
  const [first] = files;
  if (first === undefined || files.some(({ format }) => !format.equals(first.format))) return undefined;
  const samples = Buffer.concat(files.map((file) => file.samples));
  const chunks = [chunk('fmt ', first.format), chunk('data', samples)];
  const head = Buffer.alloc(HEAD);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(4 + chunks.reduce((sum, { length }) => sum + length, 0), 4);
  head.write('WAVE', 8, 'latin1');
  return Buffer.concat([head, ...chunks]);
};

const chunk = (name: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(CHUNK_HEAD);
  head.write(name, 0, 'latin1');
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body, Buffer.alloc(body.length % 2)]);
};
