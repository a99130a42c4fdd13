import { extname } from 'node:path';
import type { SourceFile } from './extraction';

/** How a file is read. `zip` is an Office document or a book: its entries tell. `ole` is an older Office document, or an encrypted one. */
export type Format =
  | 'plain'
  | 'markdown'
  | 'code'
  | 'html'
  | 'json'
  | 'csv'
  | 'tsv'
  | 'rtf'
  | 'eml'
  | 'pdf'
  | 'zip'
  | 'ole'
  | 'image'
  | 'unknown';

type Bytes = string | readonly number[];

const MAGIC: readonly (readonly [Format, Bytes, at?: number])[] = [
  ['pdf', '%PDF'],
  ['zip', 'PK\u0003\u0004'],
  ['zip', 'PK\u0005\u0006'],
  ['ole', [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]],
  ['rtf', '{\\rtf'],
  ['image', [0xff, 0xd8, 0xff]],
  ['image', [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ['image', 'GIF8'],
  ['image', 'WEBP', 8],
  ['image', 'II*\0'],
  ['image', 'MM\0*'],
  ['image', 'ftypheic', 4],
  ['image', 'ftypavif', 4],
  ['image', 'ftypmif1', 4],
  // Compressed, programs, sound and film: never text, whatever they are called.
  ['unknown', [0x1f, 0x8b, 0x08]],
  ['unknown', '7z\u00bc\u00af'],
  ['unknown', [0x7f, 0x45, 0x4c, 0x46]],
  ['unknown', 'OggS'],
  ['unknown', 'ftyp', 4],
];

const TYPES: Readonly<Record<string, Format>> = {
  'text/markdown': 'markdown',
  'text/x-markdown': 'markdown',
  'text/plain': 'plain',
  'text/html': 'html',
  'application/xhtml+xml': 'html',
  'application/json': 'json',
  'application/x-ndjson': 'json',
  'text/csv': 'csv',
  'text/tab-separated-values': 'tsv',
  'message/rfc822': 'eml',
  'application/xml': 'code',
  'text/xml': 'code',
  'application/pdf': 'pdf',
  'application/epub+zip': 'zip',
  'application/rtf': 'rtf',
  'text/rtf': 'rtf',
};
const OFFICE = /^application\/vnd\.(?:openxmlformats-officedocument\.|ms-(?:excel|powerpoint|word)\.)/;

const ENDINGS: Readonly<Record<string, Format>> = {
  ...Object.fromEntries(['md', 'markdown', 'mdx'].map((ending) => [ending, 'markdown'])),
  ...Object.fromEntries(['txt', 'text', 'log'].map((ending) => [ending, 'plain'])),
  ...Object.fromEntries(['html', 'htm', 'xhtml'].map((ending) => [ending, 'html'])),
  ...Object.fromEntries(['json', 'jsonl', 'ndjson', 'geojson'].map((ending) => [ending, 'json'])),
  ...Object.fromEntries(['docx', 'docm', 'xlsx', 'xlsm', 'pptx', 'pptm', 'epub'].map((ending) => [ending, 'zip'])),
  ...Object.fromEntries(['jpg', 'jpeg', 'png', 'gif', 'webp', 'tif', 'tiff'].map((ending) => [ending, 'image'])),
  csv: 'csv',
  tsv: 'tsv',
  tab: 'tsv',
  rtf: 'rtf',
  eml: 'eml',
  pdf: 'pdf',
  ...Object.fromEntries(
    'js mjs cjs jsx ts mts cts tsx py rb go rs java kt kts scala c h cc cpp cxx hpp cs fs vb swift m php pl lua r jl sh bash zsh ps1 bat sql css scss less vue svelte xml xsd xsl svg yaml yml toml ini cfg conf properties env gradle tf hcl proto graphql dockerfile makefile cmake ex exs erl hs ml clj dart groovy asm tex diff patch'
      .split(' ')
      .map((ending) => [ending, 'code']),
  ),
};

/** The format of a file: what its bytes say, else its name, else its type, else text. */
export const formatOf = ({ name, mimeType, body }: SourceFile): Format => {
  const head = body.subarray(0, 1_024);
  const isWritten = head.every((byte) => byte > 8);
  const magic = MAGIC.find(
    ([format, bytes, at = 0]) =>
      head.subarray(at, at + bytes.length).equals(bytesOf(bytes)) &&
      // A text may begin with `GIF89a` or `The ftyp box`; no picture, sound or film is without zeros.
      !(isWritten && (format === 'image' || format === 'unknown') && /^[\w*]+$/.test(String(bytes))),
  );
  if (magic !== undefined) return magic[0];
  const said = saidFormat(name, mimeType);
  const text = head
    .toString('latin1')
    .replace(/\0/g, '')
    .replace(/^(?:\u00ef\u00bb\u00bf|\u00ff\u00fe|\u00fe\u00ff)/, '')
    .trimStart();
  if (said !== 'html' && said !== 'code' && said !== 'eml' && /^<(?:!doctype html|html[\s>])/i.test(text))
    return 'html';
  if (said === undefined || said === 'plain') return isMail(text) ? 'eml' : (said ?? 'plain');
  return said;
};

/** True where the format is read without a parser that files could be made against, in time and memory that follow their size. */
export const isPlainText = (format: Format): boolean =>
  format === 'plain' || format === 'markdown' || format === 'code';

const saidFormat = (name: string, mimeType: string): Format | undefined => {
  const type = (mimeType.split(';')[0] ?? '').trim().toLowerCase();
  const ending = extname(name).slice(1).toLowerCase();
  const byType =
    TYPES[type] ??
    (OFFICE.test(type) ? 'zip' : type.startsWith('image/') && type !== 'image/svg+xml' ? 'image' : undefined);
  const byName = Object.hasOwn(ENDINGS, ending) ? ENDINGS[ending] : undefined;
  // A type of its own says more than `text/plain`, which browsers and tools give to anything.
  return byType === undefined || byType === 'plain' ? (byName ?? byType) : byType;
};

/** Fields that begin a message; a text that has them by chance has not three. */
const MAIL_FIELDS =
  /^(?:from|to|cc|date|subject|message-id|received|return-path|mime-version|delivered-to|reply-to|content-type):/i;

const isMail = (text: string): boolean => {
  const fields = text.split(/\r?\n/, 30).filter((line) => MAIL_FIELDS.test(line));
  return (
    /^[\w-]+:/.test(text) && fields.length >= 3 && fields.some((line) => /^(?:from|received|return-path):/i.test(line))
  );
};

const bytesOf = (bytes: Bytes): Buffer =>
  typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : Buffer.from(bytes);
