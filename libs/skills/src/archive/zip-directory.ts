import { isUtf8 } from 'node:buffer';
import { constants, crc32, inflateRawSync } from 'node:zlib';
import { type Entry, fromRandomAccessReaderPromise, getFileNameLowLevel, type ZipFile } from 'yauzl';
import { BytesReader } from './bytes-reader';
import { DistinctPaths } from './distinct-paths';
import { pathFault } from './paths';
import { fail, MAX_FILE_BYTES, MAX_PATH, MAX_TEXT_BYTES, SkillFailure, type SkillLimits } from './skill';

/** A file of an archive whose directory and own header agree. */
export interface ZippedFile {
  readonly path: string;
  readonly sizeBytes: number;
  /** Its bytes. Throws `SkillFailure` where they are not what the directory says. */
  readonly read: () => Buffer;
}

/** Folders, junk of file managers and files together. */
const MAX_ENTRIES = 10_000;
/** Of the directory: names of 350 bytes for each of the most entries. */
const MAX_DIRECTORY_BYTES = 4 * 1024 ** 2;
/** With those that have no entry of their own: more than 500 files in as many folders as their paths can name. */
const MAX_FOLDERS = 65_536;
/** Programs write up to four for an entry. */
const MAX_EXTRA_FIELDS = 16;
/** Deflate makes at most 1,032 bytes of one. What is honest and large stays far below. */
const MAX_RATIO = 200;
/** Bytes that may be repetitive to any degree. */
const SMALL = 1024 ** 2;

/** Of an entry, with the folders that its Skill is in. */
const LONGEST_PATH = 1_024;

const END_BYTES = 22;
const LOCATOR_BYTES = 20;
const ENTRY_BYTES = 46;
const ZIP64 = 0x0001;
const UNICODE_PATH = 0x7075;
/** Extra fields of Unix that may name what a link leads to, and how many bytes they have without. */
const LINKS: Readonly<Record<number, number | undefined>> = { 0x000d: 12, 0x756e: 14 };
/** Written behind a file whose sizes were not known before it. */
const DESCRIPTOR_BYTES = [12, 16];

const invalid = (sentence: string, path = ''): never => fail('invalid_archive', sentence, { path });

/**
 * The files of a zip, in the order of its directory, once all of it is found sound: no entry is hidden, doubled, encrypted, a
 * link or a device, none leaves the folder, lies of its size or name, overlaps another, or inflates too far. Nothing is inflated
 * yet. What costs least is asked first, and nothing after the first fault. Throws `SkillFailure` `invalid_archive` or
 * `too_large`, with the entry.
 */
export const filesOfZip = async (bytes: Buffer, limits: SkillLimits): Promise<readonly ZippedFile[]> => {
  const zip = await opened(bytes);
  const directory = directoryOf(bytes, zip);
  if (zip.entryCount > MAX_ENTRIES)
    fail('too_large', `The archive has more than ${MAX_ENTRIES} entries. Take some out.`, { path: '' });
  if (directory.end - directory.start > MAX_DIRECTORY_BYTES)
    fail(
      'too_large',
      `The directory of the archive, with all names, has more than ${MAX_DIRECTORY_BYTES} bytes. Shorten names, or take files out.`,
      { path: '' },
    );
  const listed = await listedIn(zip, directory.end - directory.start, limits);
  const declared = listed.reduce((sum, { entry }) => sum + entry.uncompressedSize, 0);
  if (declared > SMALL && declared > MAX_RATIO * bytes.length)
    invalid(`It would inflate to more than ${MAX_RATIO} times its size. Pack the files themselves.`);
  const placed = await placedIn(zip, listed, directory.start);
  return placed.filter(({ path }) => !path.endsWith('/')).map((each) => fileOf(bytes, each));
};

/** An entry that is sound by all that the directory says of it. */
interface Listed {
  readonly path: string;
  readonly entry: Entry;
}

const listedIn = async (zip: ZipFile, directoryBytes: number, limits: SkillLimits): Promise<readonly Listed[]> => {
  const names = new DistinctPaths();
  const listed: Listed[] = [];
  let declared = 0;
  for await (const entry of entriesOf(zip, directoryBytes)) {
    const path = pathOf(entry);
    checkKind(entry, path);
    declared += entry.uncompressedSize;
    checkSizes(entry, path, declared, limits);
    if (!names.add(path))
      invalid('Another entry has the same name, or one that differs only in case or accents. Rename it.', path);
    if (names.folderCount > MAX_FOLDERS)
      fail('too_large', `The archive has more than ${MAX_FOLDERS} folders. Take some out.`, { path: '' });
    listed.push({ path, entry });
  }
  return listed;
};

const opened = async (bytes: Buffer): Promise<ZipFile> => {
  try {
    return await fromRandomAccessReaderPromise(new BytesReader(bytes), bytes.length, {
      lazyEntries: true,
      decodeStrings: false,
      autoClose: false,
    });
  } catch {
    return invalid('This is no whole zip archive. Pack the folder of the Skill again.');
  }
};

interface Directory {
  readonly start: number;
  readonly end: number;
}

/** Where the directory stands. Throws where its end does not say so, or where it is zip64, which no Skill needs. */
const directoryOf = (bytes: Buffer, zip: ZipFile): Directory => {
  const end = bytes.length - END_BYTES - zip.comment.length;
  if (end >= LOCATOR_BYTES && bytes.readUInt32LE(end - LOCATOR_BYTES) === 0x07064b50)
    invalid('This is a zip64 archive, which is for archives of more than 4 GiB. Pack it as a plain zip.');
  const [size, start] = [bytes.readUInt32LE(end + 12), bytes.readUInt32LE(end + 16)];
  const counts = [bytes.readUInt16LE(end + 8), bytes.readUInt16LE(end + 10)];
  const isSound = start + size === end && counts.every((count) => count === zip.entryCount);
  return isSound ? { start, end } : invalid('The end of the archive does not fit its directory. Pack it again.');
};

/** Entries one by one, so that nothing is read behind one that is wrong. */
async function* entriesOf(zip: ZipFile, directoryBytes: number): AsyncGenerator<Entry> {
  let bytes = 0;
  try {
    for await (const entry of zip.eachEntry()) {
      bytes += ENTRY_BYTES + entry.fileNameLength + entry.extraFieldLength + entry.fileCommentLength;
      if (bytes > directoryBytes) break;
      yield entry;
    }
  } catch (error) {
    const isEncrypted = error instanceof Error && error.message.includes('encryption');
    invalid(isEncrypted ? ENCRYPTED : 'The directory of the archive is damaged. Pack it again.');
  }
  if (bytes !== directoryBytes) invalid('The archive has other entries than it counts. Pack it again.');
}

/** The name in UTF-8, or in the code page of DOS where it is none. Throws where the name is not one path. */
const pathOf = (entry: Entry): string => {
  const raw = entry.fileNameRaw;
  const path = isUtf8(raw)
    ? raw.toString('utf8')
    : getFileNameLowLevel(entry.generalPurposeBitFlag & ~0x800, raw, entry.extraFields, true);
  const shown = path
    .slice(0, MAX_PATH)
    .toWellFormed()
    .replace(/\p{Cc}/gu, '\ufffd');
  const other = entry.extraFields
    .find(({ id }) => id === UNICODE_PATH)
    ?.data.subarray(5)
    .toString('utf8');
  if (other !== undefined && other !== path) return invalid('This entry has two names. Pack the archive again.', shown);
  const fault = pathFault(path.replace(/\/$/, ''), LONGEST_PATH);
  return fault === undefined ? path : invalid(`This entry ${fault}`, shown);
};

const ENCRYPTED = 'This is encrypted. Pack the archive without a password.';
/** Types of files in the mode of Unix. */
const [TYPE, REGULAR, FOLDER, LINK] = [0xf000, 0x8000, 0x4000, 0xa000];

const checkKind = (entry: Entry, path: string): void => {
  if (entry.extraFields.length > MAX_EXTRA_FIELDS)
    invalid(`This entry has more than ${MAX_EXTRA_FIELDS} extra fields. Pack the archive again.`, path);
  // Bits 0, 6 and 13: encrypted, strongly encrypted, masked headers.
  if ((entry.generalPurposeBitFlag & 0x2041) !== 0) invalid(ENCRYPTED, path);
  if (entry.compressionMethod !== 0 && entry.compressionMethod !== 8)
    invalid('This is not compressed by deflate. Pack the archive as a plain zip.', path);
  if (entry.extraFields.some(({ id }) => id === ZIP64)) invalid('This is a zip64 entry. Pack a plain zip.', path);
  if (entry.extraFields.some(({ id, data }) => data.length > (LINKS[id] ?? Infinity)))
    invalid('This is a link. Put the file itself in its place.', path);
  const type = (entry.externalFileAttributes >>> 16) & TYPE;
  if (type === LINK) invalid('This is a symbolic link. Put the file itself in its place.', path);
  if (type !== 0 && type !== REGULAR && type !== FOLDER) invalid('This is a device. Leave it out.', path);
  if (type !== 0 && (type === FOLDER) !== path.endsWith('/')) invalid('This is called a file and a folder.', path);
};

const checkSizes = (
  { uncompressedSize, compressedSize }: Entry,
  path: string,
  declared: number,
  limits: SkillLimits,
): void => {
  if (path.endsWith('/') && uncompressedSize > 0) invalid('This folder has bytes of its own.', path);
  if (uncompressedSize > MAX_FILE_BYTES)
    fail('too_large', `The file has more than ${MAX_FILE_BYTES} bytes. Make it smaller.`, { path });
  if (declared > limits.bytes + MAX_TEXT_BYTES)
    fail('too_large', `The files have more than ${limits.bytes} bytes together. Take some out.`, { path: '' });
  if (uncompressedSize > SMALL && uncompressedSize > MAX_RATIO * compressedSize)
    invalid(`It would inflate to more than ${MAX_RATIO} times its size.`, path);
};

interface Span {
  readonly dataStart: number;
  readonly end: number;
  readonly hasDescriptor: boolean;
}

const DIFFERS = 'Its own header and the directory of the archive say different things. Pack the archive again.';

/** Where an entry stands, once its own header says what the directory says. */
const spanOf = async (zip: ZipFile, { entry, path }: Listed): Promise<Span> => {
  const local = await zip.readLocalFileHeaderPromise(entry).catch(() => invalid(DIFFERS, path));
  const hasDescriptor = (entry.generalPurposeBitFlag & 0x8) !== 0;
  const sizes = [
    [local.compressedSize, entry.compressedSize],
    [local.uncompressedSize, entry.uncompressedSize],
    [local.crc32, entry.crc32],
  ] as const;
  const isSame =
    local.fileName.equals(entry.fileNameRaw) &&
    local.compressionMethod === entry.compressionMethod &&
    ((local.generalPurposeBitFlag ^ entry.generalPurposeBitFlag) & 0x2849) === 0 &&
    sizes.every(([own, listed]) => own === listed || (hasDescriptor && own === 0));
  if (!isSame) invalid(DIFFERS, path);
  return { dataStart: local.fileDataStart, end: local.fileDataStart + entry.compressedSize, hasDescriptor };
};

type Placed = Listed & { readonly span: Span };

/**
 * Where the entries stand, in the order of the directory. Throws where they overlap, or something stands between them that none
 * of them names. Headers are read in the order in which they stand, and not behind one that overlaps: together they take no more than the archive.
 */
const placedIn = async (
  zip: ZipFile,
  listed: readonly Listed[],
  directoryStart: number,
): Promise<readonly Placed[]> => {
  const spans = new Map<Listed, Span>();
  let [end, canBe] = [0, [0]];
  const follows = (start: number, path: string): void => {
    if (start < end) invalid('This entry overlaps another. Pack the archive again.', path);
    if (!canBe.includes(start - end))
      invalid('Bytes stand before this that no entry names. Pack the archive again.', path);
  };
  for (const each of listed.toSorted(
    (a, b) => a.entry.relativeOffsetOfLocalHeader - b.entry.relativeOffsetOfLocalHeader,
  )) {
    const span = await spanOf(zip, each);
    follows(each.entry.relativeOffsetOfLocalHeader, each.path);
    spans.set(each, span);
    [end, canBe] = [span.end, span.hasDescriptor ? [0, ...DESCRIPTOR_BYTES] : [0]];
  }
  follows(directoryStart, '');
  return listed.flatMap((each) => {
    const span = spans.get(each);
    return span === undefined ? [] : [{ ...each, span }];
  });
};

/** Holds no entry: ten thousand with the buffers of each slow down every collection of garbage while files are read. */
const fileOf = (bytes: Buffer, { path, entry, span: { dataStart, end } }: Placed): ZippedFile => {
  const { uncompressedSize: sizeBytes, compressionMethod, crc32: listed } = entry;
  const read = (): Buffer => {
    const raw = bytes.subarray(dataStart, end);
    const body = compressionMethod === 0 ? raw : inflate(raw, sizeBytes, path);
    if (body.length !== sizeBytes || crc32(body) !== listed)
      invalid('Its bytes are not those that the archive says. Pack it again.', path);
    return body;
  };
  return { path, sizeBytes, read };
};

/** Inflates no further than what was said, and all that was said. */
const inflate = (raw: Buffer, sizeBytes: number, path: string): Buffer => {
  try {
    // With `info` it answers both; the types know the buffer alone (https://nodejs.org/api/zlib.html#class-options). In one piece: by default those of 16 KiB are put together.
    const { buffer, engine } = inflateRawSync(raw, {
      maxOutputLength: Math.max(sizeBytes, 1),
      chunkSize: Math.max(sizeBytes + 1, constants.Z_MIN_CHUNK),
      info: true,
    }) as unknown as {
      readonly buffer: Buffer;
      readonly engine: { readonly bytesWritten: number };
    };
    if (engine.bytesWritten === raw.length) return buffer;
  } catch (error) {
    if (error instanceof SkillFailure) throw error;
  }
  return invalid('Its bytes are damaged, or more than the archive says. Pack it again.', path);
};
