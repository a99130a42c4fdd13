const ENTERED: readonly string[] = ['moov', 'trak', 'mdia', 'mvex', 'moof', 'traf'];

/** What the boxes of a file say. */
interface BoxValues {
  /** Seconds of the film and of its tracks. */
  readonly lengths: number[];
  /** Ticks in a second by track. */
  readonly scales: Map<number, number>;
  /** Ticks of a sample by track, unless a fragment says others. */
  readonly usual: Map<number, number>;
  /** Ticks of the fragments by track. */
  readonly fragments: Map<number, number>;
  track: number;
  sample: number;
}

/**
 * The length of an MP4 or M4A file, also with fragments: the longest that it states. Undefined if it is not one, or
 * states none.
 */
export const secondsOfMp4 = (file: Buffer): number | undefined => {
  if (file.toString('latin1', 4, 8) !== 'ftyp') return undefined;
  const told: BoxValues = {
    lengths: [],
    scales: new Map(),
    usual: new Map(),
    fragments: new Map(),
    track: 0,
    sample: 0,
  };
  for (let at = 0; at + 8 <= file.length;) {
    const name = file.toString('latin1', at + 4, at + 8);
    const short = file.readUInt32BE(at);
    const head = short === 1 ? 16 : 8;
    if (at + head > file.length) break;
    const size = short === 1 ? Number(file.readBigUInt64BE(at + 8)) : short === 0 ? file.length - at : short;
    if (size < head) break;
    if (!ENTERED.includes(name)) read(name, file.subarray(at + head, at + size), told);
    at += ENTERED.includes(name) ? head : size;
  }
  const parts = [...told.fragments].map(([track, ticks]) => ticks / (told.scales.get(track) ?? Infinity));
  const seconds = Math.max(0, ...told.lengths, ...parts);
  return seconds > 0 ? seconds : undefined;
};

const read = (name: string, box: Buffer, told: BoxValues): void => {
  const at = (offset: number): number => (offset + 4 <= box.length ? box.readUInt32BE(offset) : 0);
  const isLong = box[0] === 1;
  switch (name) {
    case 'tkhd':
      told.track = at(isLong ? 20 : 12);
      break;
    case 'mvhd':
    case 'mdhd': {
      const scale = at(isLong ? 20 : 12);
      if (name === 'mdhd') told.scales.set(told.track, scale);
      const ticks = isLong ? at(24) * 2 ** 32 + at(28) : at(16);
      // All bits set: not known.
      if (scale > 0 && at(isLong ? 28 : 16) !== 0xffff_ffff) told.lengths.push(ticks / scale);
      break;
    }
    case 'trex':
      told.usual.set(at(4), at(12));
      break;
    case 'tfhd':
      told.track = at(4);
      told.sample = (at(0) & 8) === 0 ? (told.usual.get(told.track) ?? 0) : at(8 + before(at(0)));
      break;
    case 'trun':
      told.fragments.set(told.track, (told.fragments.get(told.track) ?? 0) + ticksOfRun(at, box.length, told.sample));
  }
};

/** Bytes of what a fragment's head says before the ticks of a sample. */
const before = (flags: number): number => ((flags & 1) === 0 ? 0 : 8) + ((flags & 2) === 0 ? 0 : 4);

const ticksOfRun = (at: (offset: number) => number, length: number, usual: number): number => {
  const [flags, samples] = [at(0), at(4)];
  if ((flags & 0x100) === 0) return samples * usual;
  const each = [0x100, 0x200, 0x400, 0x800].filter((flag) => (flags & flag) !== 0).length * 4;
  let ticks = 0;
  for (let place = 8 + ((flags & 1) === 0 ? 0 : 4) + ((flags & 4) === 0 ? 0 : 4); place + 4 <= length; place += each)
    ticks += at(place);
  return ticks;
};
