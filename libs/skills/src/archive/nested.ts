/** What archives and compressed files begin with, in hex, and where. Each has bytes that no text has, or is too long to be one's by chance. */
const BEGINNINGS: readonly (readonly [beginning: RegExp, at: number])[] = [
  // zip; gzip, compress with its flags and bits (9 to 16), and LZH of SCO, each with more behind it; 7z, rar, xz, zstandard, lz4, cab
  [
    /^(?:504b(?:0304|0506|0708)|1f(?:8b08|9d(?:[08][9a-f]|[19]0)|a0..)|377abcaf271c|526172211a07|fd377a585a00|28b52ffd|04224d18|4d53434600000000)/,
    0,
  ],
  // bzip2: `BZh`, a digit, and the digits of pi or of its root
  [/^425a683[1-9](?:314159265359|177245385090)/, 0],
  // tar: `ustar`
  [/^7573746172(?:00|202000)/, 257],
];
const MOST_BEGINNING = 10;
const NAMED = /\.(?:zip|skill|jar|7z|rar|tar|tgz|gz|bz2|xz|zst)$/i;

/** Files of office programs, which are zips with a part that says so. */
const OFFICE = /\.(?:do[ct][xm]|xl[st][xm]|pp[ts][xm]|pot[xm]|vsdx|o[dt][tspg]|epub)$/i;
const OFFICE_PART = /^(?:\[Content_Types\]\.xml|mimetype|(?:word|xl|ppt|visio)\/.+)$/;

/** What is said of one. */
export const NESTED = 'This is an archive in the archive. Put its files in its place.';

/** Whether a file is called as archives are. */
export const isNamedArchive = (path: string): boolean => NAMED.test(path);

/** Whether a file is an archive, whatever it is called: what a reader of archives would open. Files of office programs are none. */
export const isArchive = (path: string, bytes: Uint8Array): boolean => {
  if (isNamedArchive(path)) return true;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const names = namesOfZip(buffer);
  if (names !== undefined && OFFICE.test(path)) return !names.some((name) => OFFICE_PART.test(name));
  return (
    names !== undefined ||
    BEGINNINGS.some(([beginning, at]) => beginning.test(buffer.toString('hex', at, at + MOST_BEGINNING)))
  );
};

const END = Buffer.from('PK\x05\x06');
const ENTRY = 0x02014b50;
const [END_BYTES, ENTRY_BYTES, MOST_COMMENT, MOST_NAMES] = [22, 46, 0xffff, 1_000];

/** Names in the directory of a zip, which stands at its end: other bytes may come before it. Undefined where it is none. */
const namesOfZip = (bytes: Buffer): readonly string[] | undefined => {
  const first = Math.max(0, bytes.length - END_BYTES - MOST_COMMENT);
  // On from the last byte by byte: to search from each end that is none took seconds where files consist of them.
  for (let end = first + bytes.subarray(first).lastIndexOf(END); end >= first; end -= 1) {
    if (!isEndAt(bytes, end)) continue;
    const start = end - bytes.readUInt32LE(end + 12);
    if (start >= 0 && (start === end || bytes.readUInt32LE(start) === ENTRY)) return namesFrom(bytes, start, end);
  }
  return undefined;
};

/** Whether an end (`PK\x05\x06`) stands there, and its comment fits behind it. */
const isEndAt = (bytes: Buffer, at: number): boolean =>
  bytes[at] === 0x50 &&
  bytes[at + 1] === 0x4b &&
  bytes[at + 2] === 0x05 &&
  bytes[at + 3] === 0x06 &&
  at + END_BYTES + (bytes[at + 20] ?? 0) + (bytes[at + 21] ?? 0) * 256 <= bytes.length;

const namesFrom = (bytes: Buffer, start: number, end: number): readonly string[] => {
  const names: string[] = [];
  for (let at = start; at + ENTRY_BYTES <= end && names.length < MOST_NAMES;) {
    const [name, extra, comment] = [
      bytes.readUInt16LE(at + 28),
      bytes.readUInt16LE(at + 30),
      bytes.readUInt16LE(at + 32),
    ];
    names.push(bytes.toString('utf8', at + ENTRY_BYTES, at + ENTRY_BYTES + name));
    at += ENTRY_BYTES + name + extra + comment;
  }
  return names;
};
