/** Elements of Matroska by their ids. */
const EBML = 0x1a45_dfa3;
const SEGMENT = 0x1853_8067;
const INFO = 0x1549_a966;
const CLUSTER = 0x1f43_b675;
const GROUP = 0xa0;
const SCALE = 0x2a_d7b1;
const DURATION = 0x4489;
const CLUSTER_TIME = 0xe7;
const BLOCKS: readonly number[] = [0xa1, 0xa3];
const ENTERED: readonly number[] = [SEGMENT, INFO, CLUSTER, GROUP];

/**
 * The length of a WebM file: as it states, or by its last block, because recordings of browsers do not state it.
 * Undefined if it is not one, or has none.
 */
export const secondsOfWebm = (file: Buffer): number | undefined => {
  if (file.length < 4 || file.readUInt32BE(0) !== EBML) return undefined;
  let [scale, told, cluster, last] = [1_000_000, 0, 0, 0];
  for (let at = 0; at < file.length;) {
    const id = number(file, at, false);
    const size = id && number(file, at + id.bytes, true);
    if (size === undefined || id === undefined) break;
    const body = at + id.bytes + size.bytes;
    const isEntered = ENTERED.includes(id.value);
    // Streams do not know how long what they are in will be.
    if (size.isUnknown && !isEntered) break;
    const end = isEntered ? body : body + size.value;
    const value = file.subarray(body, end);
    if (id.value === SCALE) scale = unsigned(value);
    if (id.value === DURATION)
      told = value.length === 4 ? value.readFloatBE() : value.length === 8 ? value.readDoubleBE() : 0;
    if (id.value === CLUSTER_TIME) cluster = unsigned(value);
    if (BLOCKS.includes(id.value)) last = Math.max(last, cluster + timeOf(value));
    at = end;
  }
  const ticks = Math.max(Number.isFinite(told) ? told : 0, last);
  return ticks > 0 && scale > 0 ? (ticks * scale) / 1e9 : undefined;
};

/** A block says its track, then its time within the cluster. */
const timeOf = (block: Buffer): number => {
  const track = number(block, 0, true);
  return track === undefined || block.length < track.bytes + 2 ? 0 : block.readInt16BE(track.bytes);
};

const unsigned = (value: Buffer): number => value.subarray(0, 8).reduce((sum, byte) => sum * 256 + byte, 0);

/** A number whose first bits say how many bytes it has; ids keep them. */
const number = (file: Buffer, at: number, isSize: boolean) => {
  const first = file[at] ?? 0;
  const bytes = Math.clz32(first) - 23;
  if (first === 0 || at + bytes > file.length) return undefined;
  let value = isSize ? first & (0xff >> bytes) : first;
  let isUnknown = isSize && value === 0xff >> bytes;
  for (const byte of file.subarray(at + 1, at + bytes)) {
    value = value * 256 + byte;
    isUnknown &&= byte === 0xff;
  }
  return { value, bytes, isUnknown };
};
