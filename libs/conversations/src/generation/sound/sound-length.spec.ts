import fc from 'fast-check';
import { soundSeconds } from './sound-length';

const u32 = (...values: readonly number[]): Buffer => {
  const buffer = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => buffer.writeUInt32BE(value, index * 4));
  return buffer;
};
const bytes = (...values: readonly number[]): Buffer => Buffer.from(values);
const text = (value: string): Buffer => Buffer.from(value, 'latin1');

/** Frames of MPEG 1, layer III, 128 kbit/s at 44,100: 417 bytes and 1,152 samples each. */
const mp3 = (frames: number): Buffer =>
  Buffer.concat(Array.from({ length: frames }, () => Buffer.concat([bytes(0xff, 0xfb, 0x90, 0), Buffer.alloc(413)])));
const id3 = Buffer.concat([text('ID3'), bytes(4, 0, 0, 0, 0, 2, 0), Buffer.alloc(256, 0xff)]);
/** Frames of AAC at 44,100. */
const adts = (frames: number): Buffer =>
  Buffer.concat(
    Array.from({ length: frames }, () =>
      Buffer.concat([bytes(0xff, 0xf1, 0x50, 0x80, 0x0c, 0x9f, 0xfc), Buffer.alloc(93)]),
    ),
  );
const flac = (samples: number): Buffer => {
  const info = Buffer.alloc(34);
  info.writeUIntBE(44_100 * 16, 10, 3);
  info.writeUInt32BE(samples, 14);
  return Buffer.concat([text('fLaC'), bytes(0x80, 0, 0, 34), info]);
};
const page = (flags: number, granule: bigint, serial: number, body: Buffer): Buffer => {
  const head = Buffer.alloc(27);
  head.write('OggS', 'latin1');
  head[5] = flags;
  head.writeBigUInt64LE(granule, 6);
  head.writeUInt32LE(serial, 14);
  head[26] = 1;
  return Buffer.concat([head, bytes(body.length), body]);
};
const opus = (samples: bigint, serial = 1): Buffer =>
  Buffer.concat([
    page(2, 0n, serial, Buffer.concat([text('OpusHead'), bytes(1, 1, 0x38, 1), Buffer.alloc(7)])),
    page(0, samples, serial, Buffer.alloc(200)),
    page(0, 0xffff_ffff_ffff_ffffn, serial, Buffer.alloc(200)),
  ]);
const vorbis = (samples: bigint): Buffer => {
  const head = Buffer.alloc(30);
  head.write('\x01vorbis', 'latin1');
  head.writeUInt32LE(22_050, 12);
  return Buffer.concat([page(2, 0n, 7, head), page(4, samples, 7, Buffer.alloc(100))]);
};
const element = (id: readonly number[], body: Buffer, isOpen = false): Buffer =>
  Buffer.concat([
    bytes(...id),
    isOpen
      ? bytes(0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
      : bytes(0x40 | (body.length >> 8), body.length & 255),
    body,
  ]);
const double = (value: number): Buffer => {
  const buffer = Buffer.alloc(8);
  buffer.writeDoubleBE(value);
  return buffer;
};
const ebml = element([0x1a, 0x45, 0xdf, 0xa3], Buffer.alloc(4));
const cluster = (at: number, ...times: readonly number[]): Buffer =>
  element(
    [0x1f, 0x43, 0xb6, 0x75],
    Buffer.concat([
      element([0xe7], u32(at)),
      ...times.map((time) => element([0xa3], Buffer.concat([bytes(0x81, time >> 8, time & 255, 0), Buffer.alloc(40)]))),
    ]),
    true,
  );
const scale = element([0x2a, 0xd7, 0xb1], bytes(0x0f, 0x42, 0x40));
const webm = (...info: readonly Buffer[]) =>
  Buffer.concat([
    ebml,
    element([0x18, 0x53, 0x80, 0x67], element([0x15, 0x49, 0xa9, 0x66], Buffer.concat([scale, ...info])), true),
    cluster(0, 0, 60),
    cluster(5_000, 0, 2_500),
  ]);
const box = (name: string, ...bodies: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(bodies);
  return Buffer.concat([u32(8 + body.length), text(name), body]);
};
const ftyp = box('ftyp', text('M4A '), u32(0));
const track = (ticks: number): Buffer =>
  box('trak', box('tkhd', u32(0, 0, 0, 1, 0, 0)), box('mdia', box('mdhd', u32(0, 0, 0, 48_000, ticks, 0))));
const m4a = (seconds: number): Buffer =>
  Buffer.concat([
    ftyp,
    box('mdat', Buffer.alloc(500)),
    box('moov', box('mvhd', u32(0, 0, 0, 1_000, seconds * 1_000)), track(seconds * 48_000)),
  ]);
/** As browsers record it: the head knows nothing, each fragment has its samples. */
const fragmented = Buffer.concat([
  ftyp,
  box('moov', box('mvhd', u32(0, 0, 0, 1_000, 0)), track(0), box('mvex', box('trex', u32(0, 1, 1, 1_024, 0, 0)))),
  box('moof', box('traf', box('tfhd', u32(0, 1)), box('trun', u32(0, 94)))),
  box('moof', box('traf', box('tfhd', u32(8, 1, 2_048)), box('trun', u32(1, 47, 0)))),
  box('moof', box('traf', box('tfhd', u32(0, 1)), box('trun', u32(0x301, 2, 0, 24_000, 9, 24_000, 9)))),
]);

describe('the length of a sound', () => {
  it.each<[string, Buffer, number]>([
    ['an MP3 is that of its frames', mp3(100), (100 * 1_152) / 44_100],
    ['an MP3 behind a tag with a picture', Buffer.concat([id3, mp3(100)]), (100 * 1_152) / 44_100],
    ['an MP3 with garbage in between', Buffer.concat([mp3(50), Buffer.alloc(999, 1), mp3(50)]), (99 * 1_152) / 44_100],
    ['AAC is that of its frames', adts(100), (100 * 1_024) / 44_100],
    ['FLAC stands in its head', flac(441_000), 10],
    ['Opus is what stands behind the samples that nobody hears', opus(480_312n), 10],
    ['Opus that is begun anew', Buffer.concat([opus(480_312n), opus(240_312n, 2)]), 15],
    ['Vorbis goes by its own rate', vorbis(220_500n), 10],
    ['WebM stands in its head', webm(element([0x44, 0x89], double(9_000))), 9],
    ['WebM of a browser is where its last block stands', webm(), 7.5],
    ['M4A stands in its head, wherever that is', m4a(12), 12],
    ['MP4 in fragments is that of their samples', fragmented, 2 + 2 + 1],
  ])('is read from its bytes: %s', (_, file, seconds) => {
    expect(soundSeconds(file)).toBeCloseTo(seconds, 1);
  });

  it('is none of what tells nothing: then its size counts', () => {
    const none = [
      Buffer.alloc(80_000, 1),
      Buffer.alloc(80_000, 0xff),
      text('ID3'),
      flac(0),
      ftyp,
      ebml,
      Buffer.alloc(0),
    ];
    for (const file of none) expect(soundSeconds(file)).toBeUndefined();
  });

  const more = Buffer.alloc(8_000_000);
  it.each<[string, Buffer, number]>([
    ['FLAC', Buffer.concat([flac(1), more]), 10],
    ['FLAC in Ogg', Buffer.concat([page(2, 1n, 3, Buffer.concat([text('\x7fFLAC'), Buffer.alloc(40, 1)])), more]), 10],
    ['Opus', Buffer.concat([opus(48_312n), more]), 125],
    ['Vorbis', Buffer.concat([vorbis(22_050n), more]), 125],
    ['M4A', Buffer.concat([m4a(1), box('mdat', more)]), 125],
    ['M4A of whole samples', Buffer.concat([m4a(1), box('mdat', more), box('alac')]), 10],
    ['WebM', Buffer.concat([webm(element([0x44, 0x89], double(1_000))), more]), 125],
  ])('of %s is no shorter than its size allows', (_, file, seconds) => {
    expect(Math.round(soundSeconds(file) ?? 0)).toBe(seconds);
  });

  it('ends with any bytes, cut or changed', () =>
    fc.assert(
      fc.property(
        fc.constantFrom(mp3(3), adts(3), flac(9), opus(999n), vorbis(999n), webm(), m4a(1), fragmented),
        fc.array(fc.tuple(fc.nat(2_000), fc.nat(255)), { maxLength: 20 }),
        fc.nat(2_000),
        (file, changes, length) => {
          const changed = Buffer.from(file.subarray(0, length));
          for (const [at, byte] of changes) if (at < changed.length) changed[at] = byte;
          const seconds = soundSeconds(changed);
          expect(seconds === undefined || seconds >= 0).toBe(true);
        },
      ),
      { numRuns: 2_000 },
    ));
});
