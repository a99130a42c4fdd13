import { deflateRawSync } from 'node:zlib';
import { type Attached, mailFile } from '../../fixtures/files/mail';
import { docxFile, escaped, pptxFile, relations, xlsxFile, zipFile } from '../../fixtures/files/office';
import type { HostileFile } from './files';
import { zipBytes, type ZipEntry } from './zip-bytes';

const MEBIBYTE = 1024 ** 2;
const W = 'xmlns:w="w"';
const document = (body: string, head = ''): string => `${head}<w:document ${W}><w:body>${body}</w:body></w:document>`;
const word = (xml: string | Buffer): Buffer => zipFile({ 'word/document.xml': xml });
const paragraph = (text: string): string => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;
const entry = (body: Buffer | string, more: Partial<ZipEntry> = {}): ZipEntry => ({
  name: 'word/document.xml',
  body: Buffer.from(body as Buffer),
  ...more,
});
const spaces = (mebibytes: number): Buffer => Buffer.alloc(mebibytes * MEBIBYTE, ' ');
const honest = document(paragraph('Honest.'));
const book = (sheet: string, more: Readonly<Record<string, string>> = {}): Buffer =>
  zipFile({
    'xl/workbook.xml': '<workbook xmlns:r="r"><sheets><sheet name="S" r:id="a"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels': relations({ a: ['worksheet', 'sheet.xml'] }),
    'xl/sheet.xml': `<worksheet><sheetData>${sheet}</sheetData></worksheet>`,
    ...more,
  });

const bombs = (): readonly HostileFile[] => {
  const piece = spaces(15);
  const deflated = deflateRawSync(piece);
  const many = Array.from({ length: 80 }, (_, index) => entry(piece, { name: `a${index}`, deflated }));
  const inner = zipBytes(many.slice(0, 20));
  const large = zipBytes([entry(piece, { deflated })]);
  return [
    { name: 'flat.docx', body: zipBytes([entry(spaces(200))]) },
    { name: 'many.docx', body: zipBytes([entry(honest), ...many]), code: 'inflates_too_far' },
    {
      name: 'nested.docx',
      body: zipFile({ 'a.zip': zipFile({ 'b.zip': inner, 'c.zip': inner }) }),
      code: 'unsupported_type',
    },
    {
      name: 'nested-beside.docx',
      body: zipFile({ 'word/document.xml': honest, 'word/media/a.zip': inner }),
      code: 'Ready',
    },
    {
      name: 'attached.eml',
      body: mailFile('Bombs', 'Open them.', ...many.map(({ name }): Attached => [`${name}.docx`, large])),
    },
    { name: 'lies-small.docx', body: zipBytes([entry(spaces(200), { size: 10 })]) },
    { name: 'lies-zero.docx', body: zipBytes([entry(honest, { size: 0 })]), code: 'malformed' },
    { name: 'lies-large.docx', body: zipBytes([entry(honest, { size: 4_000_000_000 })]), code: 'inflates_too_far' },
    {
      name: 'overlapping.docx',
      body: zipBytes([
        entry(honest),
        ...Array.from({ length: 9_000 }, (_, index) => entry(honest, { name: `x${index}`, overlaps: 0 })),
      ]),
    },
    {
      name: 'entries.docx',
      body: zipBytes(Array.from({ length: 40_000 }, (_, index) => entry('', { name: `x${index}`, overlaps: 0 }))),
      code: 'inflates_too_far',
    },
    { name: 'count-lies.docx', body: zipBytes([entry(honest)], 60_000) },
    { name: 'zip64.docx', body: zipBytes([entry(honest)], 0xffff), code: 'inflates_too_far' },
    { name: 'twice.docx', body: zipBytes([entry(honest), entry(spaces(100))]) },
    {
      name: 'paths.docx',
      body: zipBytes([
        entry(honest, { name: '../../word/document.xml' }),
        entry(honest, { name: '/etc/passwd' }),
        entry(honest, { name: 'C:\\x' }),
      ]),
    },
    { name: 'only-up.docx', body: zipBytes([entry(honest), entry('x', { name: '../../../tmp/x' })]) },
    { name: 'encrypted.docx', body: zipBytes([entry(honest, { flags: 1 })]), code: 'encrypted' },
    { name: 'method.docx', body: zipBytes([entry(honest, { method: 99 })]), code: 'malformed' },
    { name: 'garbage.docx', body: zipBytes([entry(honest, { deflated: Buffer.alloc(500, 0xff) })]), code: 'malformed' },
    { name: 'empty.docx', body: zipBytes([]), code: 'unsupported_type' },
  ];
};

const xml = (): readonly HostileFile[] => {
  const laughs = Array.from({ length: 12 }, (_, level) => `<!ENTITY l${level + 1} "${`&l${level};`.repeat(10)}">`).join(
    '',
  );
  const entity = (declared: string): string => `<?xml version="1.0"?><!DOCTYPE d [${declared}]>`;
  return [
    {
      name: 'laughs.docx',
      body: word(document(paragraph('&l12;'), entity(`<!ENTITY l0 "ha">${laughs}`))),
      code: 'malformed',
    },
    {
      name: 'quadratic.docx',
      body: word(document(paragraph('&a;'.repeat(50_000)), entity(`<!ENTITY a "${'a'.repeat(50_000)}">`))),
      code: 'malformed',
    },
    {
      name: 'external.docx',
      body: word(document(paragraph('&x;'), entity('<!ENTITY x SYSTEM "file:///etc/passwd">'))),
      code: 'malformed',
    },
    {
      name: 'parameter.docx',
      body: word(document(paragraph('x'), entity('<!ENTITY % p SYSTEM "http://127.0.0.1:9/x.dtd">%p;'))),
      code: 'malformed',
    },
    { name: 'system.docx', body: word('<!DOCTYPE d SYSTEM "http://127.0.0.1:9/x.dtd"><d/>'), code: 'malformed' },
    {
      name: 'deep.docx',
      body: word(document(`${'<w:a>'.repeat(100_000)}${'</w:a>'.repeat(100_000)}`)),
      code: 'malformed',
    },
    { name: 'deep-tables.docx', body: word(document(`${'<w:tbl><w:tr><w:tc>'.repeat(30_000)}x`)), code: 'malformed' },
    { name: 'unclosed.docx', body: word(document('').replace('</w:document>', '')), code: 'malformed' },
    {
      name: 'attributes.docx',
      body: word(`<w:document ${W} ${Array.from({ length: 300_000 }, (_, index) => `a${index}="1"`).join(' ')}/>`),
      code: 'no_text',
    },
    { name: 'attribute.docx', body: word(`<w:document ${W} a="${'x'.repeat(30 * MEBIBYTE)}"/>`) },
    { name: 'word.docx', body: word(document(paragraph('x'.repeat(40 * MEBIBYTE)))) },
    { name: 'words.docx', body: word(document(paragraph('word '.repeat(7 * MEBIBYTE)))) },
    { name: 'paragraphs.docx', body: word(document(paragraph('x').repeat(1_000_000))) },
    { name: 'spaces.docx', body: word(document(paragraph(`a${' '.repeat(10 * MEBIBYTE)}b`))) },
    { name: 'utf16.docx', body: word(Buffer.from(`\ufeff${honest}`, 'utf16le')), code: 'Ready' },
    { name: 'not-xml.docx', body: word('{"a":1}'), code: 'malformed' },
    { name: 'controls.docx', body: word(document(paragraph('&#0;&#1;'))), code: 'malformed' },
    {
      name: 'styles.docx',
      body: docxFile([{ heading: 'Circle', style: 'a' }, { text: 'x' }], {
        'word/styles.xml': `<w:styles ${W}><w:style w:styleId="a"><w:basedOn w:val="b"/></w:style><w:style w:styleId="b"><w:basedOn w:val="a"/></w:style></w:styles>`,
      }),
      code: 'Ready',
    },
    {
      name: 'macro.docm',
      body: docxFile([{ text: 'x' }], { 'word/vbaProject.bin': 'Shell "touch /tmp/x"' }),
      code: 'Ready',
    },
    {
      name: 'remote.docx',
      body: docxFile([{ text: 'x' }], {
        'word/_rels/document.xml.rels':
          '<Relationships><Relationship Id="a" TargetMode="External" Type="attachedTemplate" Target="http://127.0.0.1:9/t.dotm"/></Relationships>',
      }),
      code: 'Ready',
    },
  ];
};

const sheets = (): readonly HostileFile[] => {
  const cell = (reference: string, value: string, type = 'n'): string =>
    `<c r="${reference}" t="${type}"><v>${value}</v></c>`;
  return [
    {
      name: 'rows.xlsx',
      body: book(Array.from({ length: 1_000_000 }, (_, index) => `<row>${cell('A1', String(index))}</row>`).join('')),
    },
    { name: 'column.xlsx', body: book(`<row r="1">${cell('ZZZZ1', '1')}</row>`), code: 'malformed' },
    {
      name: 'last-column.xlsx',
      body: book(
        Array.from(
          { length: 20_000 },
          (_, index) => `<row r="${index + 1}">${cell(`XFD${index + 1}`, '1')}</row>`,
        ).join(''),
      ),
    },
    { name: 'row.xlsx', body: book(`<row r="1e308">${cell('A1', '1')}</row>`), code: 'malformed' },
    { name: 'negative.xlsx', body: book(`<row r="-5">${cell('A1', '1')}</row>`), code: 'malformed' },
    {
      name: 'index.xlsx',
      body: book(`<row r="1">${cell('A1', '4000000000', 's')}${cell('B1', '1')}</row>`),
      code: 'Ready',
    },
    {
      name: 'proto.xlsx',
      body: book(`<row r="1">${cell('A1', '__proto__', 's')}${cell('B1', 'constructor', 's')}</row>`),
      code: 'no_text',
    },
    {
      name: 'strings.xlsx',
      body: book('', { 'xl/sharedStrings.xml': `<sst>${'<si><t>a</t></si>'.repeat(4_000_000)}</sst>` }),
    },
    {
      name: 'long-string.xlsx',
      body: book(`<row>${cell('A1', '0', 's').repeat(5_000)}</row>`.repeat(20), {
        'xl/sharedStrings.xml': `<sst><si><t>${'x'.repeat(MEBIBYTE)}</t></si></sst>`,
      }),
      code: 'too_many_passages',
    },
    {
      name: 'date.xlsx',
      body: book(`<row r="1"><c r="A1" s="0"><v>1e300</v></c></row>`, {
        'xl/styles.xml': '<s><cellXfs><xf numFmtId="14"/></cellXfs></s>',
      }),
      code: 'Ready',
    },
    {
      name: 'format.xlsx',
      body: book(`<row r="1"><c r="A1" s="0"><v>5</v></c></row>`, {
        'xl/styles.xml': `<s><numFmts><numFmt numFmtId="200" formatCode="${escaped(`${'['.repeat(50_000)}${'"'.repeat(50_000)}`)}"/></numFmts><cellXfs><xf numFmtId="200"/></cellXfs></s>`,
      }),
      code: 'Ready',
    },
    {
      name: 'up.xlsx',
      body: book('', { 'xl/_rels/workbook.xml.rels': relations({ a: ['worksheet', '../../../../etc/passwd'] }) }),
      code: 'no_text',
    },
    {
      name: 'same-sheet.xlsx',
      body: zipFile({
        'xl/workbook.xml': `<workbook xmlns:r="r"><sheets>${'<sheet name="S" r:id="a"/>'.repeat(20_000)}</sheets></workbook>`,
        'xl/_rels/workbook.xml.rels': relations({ a: ['worksheet', 'sheet.xml'] }),
        'xl/sheet.xml': `<worksheet><sheetData>${`<row>${cell('A1', '1')}</row>`.repeat(500)}</sheetData></worksheet>`,
      }),
    },
    {
      name: 'workbook.xlsx',
      body: book('', { 'xl/_rels/workbook.xml.rels': relations({ a: ['worksheet', 'workbook.xml'] }) }),
      code: 'no_text',
    },
    {
      name: 'same-slide.pptx',
      body: zipFile({
        'ppt/presentation.xml': `<p xmlns:r="r">${'<sldId r:id="a"/>'.repeat(50_000)}</p>`,
        'ppt/_rels/presentation.xml.rels': relations({ a: ['slide', 's.xml'] }),
        'ppt/s.xml': '<sld><sp><p><r><t>again</t></r></p></sp></sld>',
        'ppt/_rels/s.xml.rels': relations({ a: ['notesSlide', 's.xml'] }),
      }),
    },
    {
      name: 'self.pptx',
      body: zipFile({
        'ppt/presentation.xml': '<p xmlns:r="r"><sldId r:id="a"/></p>',
        'ppt/_rels/presentation.xml.rels': relations({ a: ['slide', 'presentation.xml'] }),
      }),
      code: 'no_text',
    },
    { name: 'no-slides.pptx', body: pptxFile([]), code: 'no_text' },
    { name: 'no-sheets.xlsx', body: xlsxFile({}), code: 'no_text' },
    {
      name: 'self.epub',
      body: zipFile({
        'META-INF/container.xml': '<c><rootfile full-path="META-INF/container.xml"/></c>',
      }),
      code: 'no_text',
    },
    {
      name: 'spine.epub',
      body: zipFile({
        'META-INF/container.xml': '<c><rootfile full-path="b.opf"/></c>',
        'b.opf': `<p><item id="a" href="a.xhtml" media-type="text/html"/>${'<itemref idref="a"/>'.repeat(100_000)}</p>`,
        'a.xhtml': `<p>${'again '.repeat(200)}</p>`,
      }),
    },
    {
      name: 'drm.epub',
      body: zipFile({
        'META-INF/container.xml': '<c><rootfile full-path="b.opf"/></c>',
        'META-INF/encryption.xml': '<e><CipherReference URI="a.xhtml"/></e>',
      }),
      code: 'encrypted',
    },
    {
      name: 'href.epub',
      body: zipFile({
        'META-INF/container.xml': '<c><rootfile full-path="b.opf"/></c>',
        'b.opf': '<p><item id="a" href="%E0%A4%A" media-type="text/html"/><itemref idref="a"/></p>',
      }),
      code: 'no_text',
    },
  ];
};

/** Zip files, and what is in them: bombs, lies, XML, tables. */
export const archives = (): readonly HostileFile[] => [...bombs(), ...xml(), ...sheets()];
