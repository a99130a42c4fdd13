import { deflateSync } from 'node:zlib';
import { assembled, encryptedPdf, pdfFile, pdfLines } from '../../fixtures/files/pdf';
import type { HostileFile } from './files';

const FONT = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>';
const RESOURCES = '/Resources << /Font << /F1 4 0 R >> >>';
const stream = (body: Buffer | string, fields = ''): string => {
  const bytes = Buffer.from(body as Buffer).toString('latin1');
  return `<< /Length ${bytes.length} ${fields} >>\nstream\n${bytes}\nendstream`;
};
/** A file of one page: catalogue, pages, page, font, content, and more from object 6 on. */
const page = (content: string, more: readonly string[] = [], fields = RESOURCES): Buffer =>
  assembled([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 5 0 R ${fields} >>`,
    FONT,
    content,
    ...more,
  ]);
const text = 'BT /F1 12 Tf 72 700 Td (Honest.) Tj ET';
const deflated = (times: number, body: Buffer): Buffer =>
  Array.from({ length: times }).reduce<Buffer>((given) => deflateSync(given), body);

/** PDFs: circles, bombs, lies. */
export const pdfs = (): readonly HostileFile[] => [
  { name: 'encrypted.pdf', body: encryptedPdf(), code: 'encrypted' },
  {
    name: 'kids-of-itself.pdf',
    body: assembled(['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Count 9 /Kids [2 0 R] >>']),
  },
  {
    name: 'kids-in-a-circle.pdf',
    body: assembled([
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Count 9 /Kids [3 0 R] >>',
      '<< /Type /Pages /Count 9 /Kids [2 0 R] >>',
    ]),
  },
  { name: 'root-of-itself.pdf', body: assembled(['1 0 R']) },
  {
    name: 'count.pdf',
    body: assembled([
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Count 2000000000 /Kids [3 0 R] >>',
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>`,
    ]),
  },
  {
    name: 'kids.pdf',
    body: assembled([
      '<< /Type /Catalog /Pages 2 0 R >>',
      `<< /Type /Pages /Count 15000 /Kids [${'3 0 R '.repeat(15_000)}] >>`,
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>',
    ]),
  },
  { name: 'contents-of-itself.pdf', body: page('5 0 R') },
  { name: 'length-in-a-circle.pdf', body: page('<< /Length 5 0 R >>\nstream\nx\nendstream') },
  { name: 'length-lies.pdf', body: page(`<< /Length 999999999 >>\nstream\n${text}\nendstream`) },
  { name: 'bomb.pdf', body: page(stream(deflateSync(Buffer.alloc(300 * 1024 ** 2, ' ')), '/Filter /FlateDecode')) },
  {
    name: 'bombs.pdf',
    body: page(
      stream(deflated(3, Buffer.alloc(400 * 1024 ** 2, ' ')), '/Filter [/FlateDecode /FlateDecode /FlateDecode]'),
    ),
  },
  { name: 'filters.pdf', body: page(stream('x', `/Filter [${'/ASCIIHexDecode '.repeat(20_000)}]`)) },
  {
    name: 'form-in-itself.pdf',
    body: page(
      stream('/X Do'),
      [stream('/X Do', '/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 6 0 R >> >>')],
      '/Resources << /XObject << /X 6 0 R >> >>',
    ),
  },
  {
    name: 'forms-doubling.pdf',
    body: page(
      stream('/X Do'),
      Array.from({ length: 30 }, (_, index) =>
        stream(
          '/X Do /X Do',
          `/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X ${7 + index} 0 R >> >>`,
        ),
      ),
      '/Resources << /XObject << /X 6 0 R >> >>',
    ),
  },
  { name: 'deep-array.pdf', body: page(stream(`${'['.repeat(300_000)}`)) },
  { name: 'deep-dictionary.pdf', body: assembled([`${'<< /A '.repeat(100_000)}`]) },
  { name: 'operators.pdf', body: page(stream('q Q '.repeat(3_000_000))) },
  { name: 'saves.pdf', body: page(stream('q '.repeat(3_000_000))) },
  { name: 'shows.pdf', body: page(stream(`BT /F1 1 Tf ${'(x) Tj '.repeat(1_500_000)} ET`)) },
  { name: 'moves.pdf', body: page(stream(`BT /F1 1 Tf ${'1 1 Td (x) Tj '.repeat(800_000)} ET`)) },
  { name: 'one-string.pdf', body: page(stream(`BT /F1 1 Tf (${'word '.repeat(6_000_000)}) Tj ET`)) },
  { name: 'numbers.pdf', body: page(stream(`BT /F1 1e308 Tf 1e308 -1e308 Td 1e400 0 0 1e400 0 0 Tm (x) Tj ET`)) },
  { name: 'box.pdf', body: page(stream(text), [], `${RESOURCES} /CropBox [0 0 1e300 -1e300]`) },
  {
    name: 'cmap.pdf',
    body: page(
      stream(text),
      [
        stream(
          `1 beginbfrange <00> <ffffffff> <0041> endbfrange ${'1 begincidrange <0000> <ffff> 0 endcidrange '.repeat(20_000)}`,
        ),
      ],
      '/Resources << /Font << /F1 << /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /ToUnicode 6 0 R /DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 /BaseFont /X /W [0 2147483647 500] >>] >> >> >>',
    ),
  },
  {
    name: 'previous-is-itself.pdf',
    body: Buffer.from(
      pdfFile([pdfLines(['x'])])
        .toString('latin1')
        .replace('/Root 1 0 R', '/Root 1 0 R /Prev 9'),
      'latin1',
    ),
  },
  {
    name: 'no-table.pdf',
    body: Buffer.from(
      pdfFile([pdfLines(['Honest.'])])
        .toString('latin1')
        .replace(/xref[^]*/, ''),
      'latin1',
    ),
  },
  { name: 'objects.pdf', body: Buffer.from(`%PDF-1.7\n${'1 0 obj\n<< >>\nendobj\n'.repeat(300_000)}`) },
  { name: 'comments.pdf', body: Buffer.from(`%PDF-1.7\n${'%'.repeat(5_000_000)}`) },
  { name: 'open-strings.pdf', body: Buffer.from(`%PDF-1.7\n1 0 obj\n${'('.repeat(3_000_000)}`) },
  {
    name: 'object-stream.pdf',
    body: page(stream('1 0 2 5 << /Type /Catalog >>', '/Type /ObjStm /N 1000000000 /First 999999999 /Extends 5 0 R')),
  },
  {
    name: 'script.pdf',
    body: page(
      stream(text),
      [],
      `${RESOURCES} /AA << /O << /S /JavaScript /JS (app.launchURL\\('http://127.0.0.1:9'\\)) >> >>`,
    ),
    code: 'Ready',
  },
  {
    name: 'link.pdf',
    body: page(
      stream(text),
      [],
      `${RESOURCES} /Annots [<< /Type /Annot /Subtype /Link /A << /S /URI /URI (http://127.0.0.1:9/) >> >>]`,
    ),
    code: 'Ready',
  },
];
