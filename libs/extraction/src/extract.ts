import { Archive, InflationLimit } from './archive';
import { type Extraction, fail, type SourceFile } from './extraction';
import { type Format, formatOf } from './format';
import { extractDocx } from './formats/docx';
import { extractEml } from './formats/eml';
import { extractEpub } from './formats/epub';
import { extractHtml } from './formats/html';
import { extractImage } from './formats/image';
import { extractJson } from './formats/json';
import { extractPdf } from './formats/pdf';
import { extractPlain } from './formats/plain';
import { extractPptx } from './formats/pptx';
import { extractRtf } from './formats/rtf';
import { extractSeparated } from './formats/csv';
import { extractXlsx } from './formats/xlsx';
import { partsOf } from './xml';

/** Of an Office document that is encrypted, in the directory of its compound file: UTF-16. */
const ENCRYPTED_PACKAGE = Buffer.from('EncryptedPackage', 'utf16le');

type Reader = (file: SourceFile, limit: InflationLimit) => Extraction | Promise<Extraction>;

const READERS: Readonly<Record<Format, Reader>> = {
  plain: (file) => extractPlain(file, 'plain'),
  markdown: (file) => extractPlain(file, 'markdown'),
  code: (file) => extractPlain(file, 'code'),
  html: (file) => extractHtml(file),
  json: (file) => extractJson(file),
  csv: (file) => extractSeparated(file, 'csv'),
  tsv: (file) => extractSeparated(file, 'tsv'),
  eml: (file, limit) => extractEml(file, (attached) => extractWithin(attached, limit)),
  rtf: (file) => extractRtf(file),
  pdf: (file) => extractPdf(file),
  image: (file) => extractImage(file),
  zip: ({ body }, limit) => extractArchive(body, limit),
  ole: ({ body }) => fail(body.includes(ENCRYPTED_PACKAGE) ? 'encrypted' : 'unsupported_type'),
  unknown: () => fail('unsupported_type'),
};

/** What the bytes of these begin with, somewhere in the first kilobyte. What is called one of them and does not is none. */
const SIGNATURES: Partial<Readonly<Record<Format, RegExp>>> = {
  pdf: /%PDF/,
  rtf: /^\{\\rtf/,
  zip: /^PK/,
  image: /^(?:\u00ff\u00d8|\u0089PNG|GIF8|RIFF|II\*|MM\0|[^]{4}ftyp)/,
};

/**
 * Reads a file, whatever it is. Of hostile files it may take any time and memory: run it in the parser process (`Parser`),
 * unless `isPlainText` is true of the format. Throws `ExtractionFailure`.
 */
export const extract = (file: SourceFile, maxInflated: number): Promise<Extraction> =>
  extractWithin(file, new InflationLimit(maxInflated));

const extractWithin = async (file: SourceFile, limit: InflationLimit): Promise<Extraction> => {
  if (file.body.length === 0) fail('empty_document');
  const format = formatOf(file);
  const isSigned = SIGNATURES[format]?.test(file.body.subarray(0, 1_024).toString('latin1')) ?? true;
  return isSigned ? READERS[format](file, limit) : mislabelled(file);
};

/** By the folder of their main part, which is mostly called as in `USUAL`. */
const OFFICE: readonly (readonly [string, (archive: Archive, main: string) => Promise<Extraction>])[] = [
  ['word/', extractDocx],
  ['xl/', extractXlsx],
  ['ppt/', extractPptx],
];
const USUAL = ['word/document.xml', 'xl/workbook.xml', 'ppt/presentation.xml'];

/** Which kind of Office document or book it is, its entries tell. */
const extractArchive = async (body: Buffer, limit: InflationLimit): Promise<Extraction> => {
  const archive = await Archive.open(body, limit);
  const [main = USUAL.find((name) => archive.has(name)) ?? ''] = await partsOf(archive, '', 'officeDocument');
  // Excel's binary workbooks.
  if (main.endsWith('.bin') || archive.has('xl/workbook.bin')) fail('unsupported_type');
  const [, readOffice] = OFFICE.find(([folder]) => main.startsWith(folder)) ?? [];
  if (readOffice !== undefined) return readOffice(archive, main);
  if (archive.has('META-INF/container.xml')) return extractEpub(archive);
  return fail('unsupported_type');
};

/** What is called something that it is not is read as text, if it is text. */
const mislabelled = (file: SourceFile): Extraction => extractPlain(file, 'plain', 'malformed');
