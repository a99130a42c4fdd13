import { inflateSync } from 'node:zlib';
import readExif from 'exif-reader';
import { type Extraction, ExtractionFailure, type SourceFile } from '../extraction';
import { TextBuilder } from '../text-builder';
import { readXmlText } from '../xml';

/** A text of an image inflates to at most this, bytes. */
const MAX_TEXT_BYTES = 4 * 1024 ** 2;
const MAX_FIELDS = 500;

const EXIF = Buffer.from('Exif\0\0', 'latin1');
const XMP = Buffer.from('http://ns.adobe.com/xap/1.0/\0', 'latin1');
/** What is shown of Exif: what people or cameras say about the picture. */
const EXIF_FIELDS = new Set(
  'ImageDescription XPTitle XPSubject XPComment XPKeywords XPAuthor UserComment Artist Copyright Make Model LensModel Software DateTime DateTimeOriginal DocumentName'.split(
    ' ',
  ),
);
const XMP_FIELDS = new Set(
  'title description subject creator rights Headline CaptionWriter City Country Location Instructions Label'.split(' '),
);

type Field = readonly [name: string, value: string];

/** What an image says of itself: Exif, XMP and the texts of PNG. An image that says nothing has no text; what it shows is not read. */
export const extractImage = ({ body }: SourceFile): Extraction => {
  const fields: Field[] = [];
  for (const { kind, bytes } of segmentsOf(body)) {
    if (fields.length > MAX_FIELDS) break;
    if (kind === 'exif') fields.push(...exifFields(bytes));
    else if (kind === 'xmp') fields.push(...xmpFields(bytes.toString('utf8')));
    else fields.push(...pngField(kind, bytes));
  }
  const builder = new TextBuilder();
  const lines = new Set(fields.map(([name, value]) => `${name}: ${value.replace(/\s+/g, ' ').trim()}`));
  builder.lines([...lines].join('\n'));
  return builder.build();
};

interface Segment {
  readonly kind: 'exif' | 'xmp' | 'tEXt' | 'zTXt' | 'iTXt';
  readonly bytes: Buffer;
}

const segmentsOf = (body: Buffer): readonly Segment[] => {
  if (body[0] === 0xff) return jpegSegments(body);
  if (body[0] === 0x89) return chunksOf(body, 8, 'png');
  if (body.subarray(8, 12).toString('latin1') === 'WEBP') return chunksOf(body, 12, 'webp');
  return /^(?:II\*\0|MM\0\*)/.test(body.subarray(0, 4).toString('latin1'))
    ? [{ kind: 'exif', bytes: Buffer.concat([EXIF, body]) }]
    : [];
};

/** The application segments of a JPEG, up to its picture. */
const jpegSegments = (body: Buffer): readonly Segment[] => {
  const found: Segment[] = [];
  for (let at = 2; at + 4 <= body.length && body[at] === 0xff;) {
    const marker = body[at + 1] as number;
    if (marker === 0xda || marker === 0xd9) break;
    const length = body.readUInt16BE(at + 2);
    const bytes = body.subarray(at + 4, at + 2 + length);
    if (marker === 0xe1 && bytes.subarray(0, EXIF.length).equals(EXIF)) found.push({ kind: 'exif', bytes });
    if (marker === 0xe1 && bytes.subarray(0, XMP.length).equals(XMP))
      found.push({ kind: 'xmp', bytes: bytes.subarray(XMP.length) });
    at += 2 + Math.max(length, 2);
  }
  return found;
};

/** The chunks of a PNG (length, name, bytes, checksum) or of a WebP (name, length, bytes). */
const chunksOf = (body: Buffer, from: number, of: 'png' | 'webp'): readonly Segment[] => {
  const found: Segment[] = [];
  for (let at = from; at + 8 <= body.length;) {
    const name = body.subarray(of === 'png' ? at + 4 : at, of === 'png' ? at + 8 : at + 4).toString('latin1');
    const length = of === 'png' ? body.readUInt32BE(at) : body.readUInt32LE(at + 4);
    const bytes = body.subarray(at + 8, at + 8 + length);
    if (name === 'eXIf' || name === 'EXIF')
      found.push({
        kind: 'exif',
        bytes: bytes.subarray(0, EXIF.length).equals(EXIF) ? bytes : Buffer.concat([EXIF, bytes]),
      });
    else if (name === 'XMP ') found.push({ kind: 'xmp', bytes });
    else if (name === 'tEXt' || name === 'zTXt' || name === 'iTXt') found.push({ kind: name, bytes });
    at += of === 'png' ? 12 + length : 8 + length + (length % 2);
  }
  return found;
};

/** A damaged directory says nothing; the other segments may. */
const exifFields = (bytes: Buffer): readonly Field[] => {
  let read: ReturnType<typeof readExif>;
  try {
    read = readExif(bytes);
  } catch (error) {
    if (error instanceof Error) return [];
    throw error;
  }
  return Object.entries({ ...read.Image, ...read.Photo }).flatMap(([name, value]): readonly Field[] => {
    const text = EXIF_FIELDS.has(name) ? exifText(name, value) : '';
    return text === '' ? [] : [[name, text]];
  });
};

const exifText = (name: string, value: unknown): string => {
  if (value instanceof Date)
    return Number.isNaN(value.getTime()) ? '' : value.toISOString().slice(0, 19).replace('T', ' ');
  if (typeof value === 'string') return latin1AsUtf8(value).replaceAll('\0', '').trim();
  const bytes = Buffer.isBuffer(value) ? value : Array.isArray(value) ? Buffer.from(value as number[]) : undefined;
  if (bytes === undefined) return '';
  if (name.startsWith('XP')) return bytes.toString('utf16le').replaceAll('\0', '').trim();
  const isUnicode = bytes.subarray(0, 7).toString('latin1') === 'UNICODE';
  const text = isUnicode
    ? bytes.subarray(8).toString('utf16le')
    : bytes.subarray(name === 'UserComment' ? 8 : 0).toString('utf8');
  return text.replaceAll('\0', '').trim();
};

/** Exif says ASCII; cameras and people write UTF-8 into it. */
const latin1AsUtf8 = (text: string): string => {
  const bytes = Buffer.from(text, 'latin1');
  const read = bytes.toString('utf8');
  return bytes.toString('latin1') === text && !read.includes('\ufffd') ? read : text;
};

const xmpFields = (xml: string): readonly Field[] => {
  const fields: Field[] = [];
  let field = '';
  let text = '';
  try {
    readXmlText(xml.replace(/^\s*<\?xpacket[^<>]*>|<\?xpacket[^<>]*>\s*$/g, '').trim(), {
      open: (name) => {
        if (XMP_FIELDS.has(name)) field = name;
        text = '';
      },
      text: (piece) => {
        text += piece;
      },
      close: (name) => {
        if (field !== '' && text.trim() !== '' && fields.length < MAX_FIELDS) fields.push([field, text]);
        text = '';
        if (name === field) field = '';
      },
    });
  } catch (error) {
    if (!(error instanceof ExtractionFailure)) throw error;
  }
  return fields;
};

/** A keyword and its text, compressed or not (PNG, 11.3.3). */
const pngField = (kind: 'tEXt' | 'zTXt' | 'iTXt', bytes: Buffer): readonly Field[] => {
  const end = bytes.indexOf(0);
  if (end < 1) return [];
  const keyword = bytes.subarray(0, end).toString('latin1');
  const rest = bytes.subarray(end + 1);
  if (kind === 'tEXt') return [[keyword, rest.toString('latin1')]];
  if (kind === 'zTXt') return textField(keyword, inflated(rest.subarray(1)), 'latin1');
  const language = rest.indexOf(0, 2);
  const translated = language < 0 ? -1 : rest.indexOf(0, language + 1);
  if (translated < 0) return [];
  const text = rest.subarray(translated + 1);
  const body = rest[0] === 1 ? inflated(text) : text;
  if (keyword === 'XML:com.adobe.xmp') return body === undefined ? [] : xmpFields(body.toString('utf8'));
  return textField(keyword, body, 'utf8');
};

const textField = (keyword: string, body: Buffer | undefined, encoding: 'latin1' | 'utf8'): readonly Field[] =>
  body === undefined || body.length === 0 ? [] : [[keyword, body.toString(encoding)]];

/** Undefined where it is damaged, or longer than any caption. */
const inflated = (bytes: Buffer): Buffer | undefined => {
  try {
    return inflateSync(bytes, { maxOutputLength: MAX_TEXT_BYTES });
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
};
