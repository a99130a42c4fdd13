/** After this many bytes without a frame, a file is not an MP3, or its sound has ended. */
const MOST_GARBAGE = 64 * 1024;
/** Bits a second in thousands: of MPEG 1 layers I, II and III, of MPEG 2 layer I, and II and III. */
const RATES: Readonly<Record<string, readonly number[]>> = {
  '1/1': [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  '1/2': [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  '1/3': [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  '2/1': [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  '2/2': [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  '2/3': [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
};
const HERTZ = [44_100, 48_000, 32_000];
const AAC_HERTZ = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
];

interface Frame {
  readonly bytes: number;
  readonly seconds: number;
}

/**
 * The length of an MP3, or of AAC without a container: the sum of its frames, whatever its header says. Undefined if it
 * is not one.
 */
export const secondsOfFrames = (file: Buffer): number | undefined => {
  let [seconds, frames, garbage] = [0, 0, 0];
  for (let at = afterTag(file); at + 7 <= file.length && garbage < MOST_GARBAGE;) {
    const frame = frameAt(file, at);
    // Two in a row: any two bytes may look like the head of one.
    if (frame === undefined || (at + frame.bytes + 7 <= file.length && frameAt(file, at + frame.bytes) === undefined)) {
      at += 1;
      garbage += 1;
      continue;
    }
    [seconds, frames, garbage] = [seconds + frame.seconds, frames + 1, 0];
    at += frame.bytes;
  }
  return frames > 1 ? seconds : undefined;
};

/** Behind the ID3v2 tag, which may hold pictures. */
const afterTag = (file: Buffer): number => {
  if (file.toString('latin1', 0, 3) !== 'ID3' || file.length < 10) return 0;
  const size = [6, 7, 8, 9].reduce((sum, index) => sum * 128 + ((file[index] as number) & 127), 0);
  return Math.min(10 + size, file.length);
};

const frameAt = (file: Buffer, at: number): Frame | undefined => {
  const [first, second, third] = [file[at] ?? 0, file[at + 1] ?? 0, file[at + 2] ?? 0];
  if (first !== 0xff || (second & 0xe0) !== 0xe0) return undefined;
  return (second & 0xf6) === 0xf0 ? adtsFrame(file, at) : mpegFrame(second, third);
};

const mpegFrame = (second: number, third: number): Frame | undefined => {
  const [version, layer] = [(second >> 3) & 3, 4 - ((second >> 1) & 3)];
  const rate = (RATES[`${version === 3 ? 1 : 2}/${layer}`]?.[third >> 4] ?? 0) * 1_000;
  const base = HERTZ[(third >> 2) & 3];
  if (version === 1 || rate === 0 || base === undefined) return undefined;
  const hertz = base / (version === 3 ? 1 : version === 2 ? 2 : 4);
  const padding = (third >> 1) & 1;
  const samples = layer === 1 ? 384 : layer === 3 && version !== 3 ? 576 : 1_152;
  const bytes =
    layer === 1
      ? (Math.floor((12 * rate) / hertz) + padding) * 4
      : Math.floor((samples / 8) * (rate / hertz)) + padding;
  return { bytes, seconds: samples / hertz };
};

/** A frame of AAC has 1,024 samples for each of its blocks. */
const adtsFrame = (file: Buffer, at: number): Frame | undefined => {
  if (at + 7 > file.length) return undefined;
  const hertz = AAC_HERTZ[(file.readUInt8(at + 2) >> 2) & 15];
  const bytes = ((file.readUInt32BE(at + 2) >> 5) & 0x1fff) >>> 0;
  if (hertz === undefined || bytes < 7) return undefined;
  return { bytes, seconds: (1_024 * ((file.readUInt8(at + 6) & 3) + 1)) / hertz };
};
