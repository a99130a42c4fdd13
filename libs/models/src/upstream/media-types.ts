/** A media type and the bytes, as latin1, that its files begin with. */
type Beginning = readonly [type: string, begins: RegExp];

const IMAGES: readonly Beginning[] = [
  ['image/png', /^\x89PNG\r\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/webp', /^RIFF[^]{4}WEBP/],
  ['image/gif', /^GIF8/],
];

const SOUNDS: readonly Beginning[] = [
  ['audio/wav', /^RIFF[^]{4}WAVE/],
  ['audio/ogg', /^OggS/],
  ['audio/flac', /^fLaC/],
  ['audio/aac', /^\xff[\xf0\xf1\xf8\xf9]/],
  ['audio/mpeg', /^(?:ID3|\xff[\xe0-\xff])/],
];

const typeOf = (bytes: Uint8Array, among: readonly Beginning[]): string | undefined => {
  const head = Buffer.from(bytes.subarray(0, 16)).toString('latin1');
  return among.find(([, begins]) => begins.test(head))?.[0];
};

/** What an image is by its first bytes; undefined for what is none. */
export const imageType = (bytes: Uint8Array): string | undefined => typeOf(bytes, IMAGES);

/** What a sound is by its first bytes; undefined for what is none. */
export const audioType = (bytes: Uint8Array): string | undefined => typeOf(bytes, SOUNDS);
