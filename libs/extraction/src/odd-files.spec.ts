import { docxFile, pptxFile, relations, xlsxFile, zipFile } from '../../../test/fixtures/files/office';
import { failure, shown } from '../../../test/fixtures/files/extracted';
import { extract } from './extract';

const GERMAN = 'Die Größe der Tür über dem Ärmel ist für Öfen und Übungen häufig außergewöhnlich.';

describe('a German text', () => {
  const inDos: Readonly<Record<string, number>> = { ä: 0x84, ö: 0x94, ü: 0x81, Ä: 0x8e, Ö: 0x99, Ü: 0x9a, ß: 0xe1 };
  const onMac: Readonly<Record<string, number>> = { ä: 0x8a, ö: 0x9a, ü: 0x9f, Ä: 0x80, Ö: 0x85, Ü: 0x86, ß: 0xa7 };
  const written = (letters: Readonly<Record<string, number>>): Buffer =>
    Buffer.from([...GERMAN].map((letter) => letters[letter] ?? letter.charCodeAt(0)));
  it.each([
    ['UTF-8', Buffer.from(GERMAN)],
    ['decomposed UTF-8', Buffer.from(GERMAN.normalize('NFD'))],
    ['UTF-16', Buffer.from(GERMAN, 'utf16le')],
    ['UTF-16 of the other order', Buffer.from(GERMAN, 'utf16le').swap16()],
    ['UTF-16 with its mark', Buffer.from(`\ufeff${GERMAN}`, 'utf16le')],
    ['Latin 1', Buffer.from(GERMAN, 'latin1')],
    ['that of DOS', written(inDos)],
    ['that of the Macintosh', written(onMac)],
  ])('is read in %s', async (_, body) =>
    expect((await shown(body, 'a.txt', 'text/plain')).join('').normalize('NFC')).toBe(GERMAN),
  );

  it.each([
    ['a broken byte', Buffer.concat([Buffer.from(GERMAN), Buffer.from([0xff])])],
    ['an end in the middle of a letter', Buffer.from(`${GERMAN} Ü`).subarray(0, -1)],
    [
      'a broken byte behind much without umlauts',
      Buffer.concat([Buffer.from('Plain words. '.repeat(9_000) + GERMAN), Buffer.from([0xff])]),
    ],
  ])('keeps its umlauts in UTF-8 with %s', async (_, body) =>
    expect((await shown(body, 'a.txt')).join('\n')).toContain(GERMAN),
  );

  it('is read in a mail that names no charset', async () =>
    expect(
      await shown(
        Buffer.from(`From: a@x.example\r\nTo: b@x.example\r\nSubject: S\r\n\r\n${GERMAN}`, 'latin1'),
        'a.eml',
      ),
    ).toContain(GERMAN));
});

const forwarded = (inner: string, fields: string): string =>
  [
    'From: a@x.example',
    'Subject: Outer',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary="o"',
    '',
    '--o',
    'Content-Type: text/plain',
    '',
    'See below.',
    '--o',
    fields,
    '',
    inner,
    '--o--',
  ].join('\r\n');
const INNER = 'From: b@x.example\r\nSubject: Inner\r\n\r\nThe quokka sleeps.';

describe('a mail that was forwarded as an attachment', () => {
  it.each([
    ['without a name', 'Content-Type: message/rfc822\r\nContent-Disposition: attachment', []],
    [
      'as a file',
      'Content-Type: application/octet-stream\r\nContent-Disposition: attachment; filename="b.eml"',
      ['## b.eml'],
    ],
  ])('is read %s', async (_, fields, heading) => {
    const found = await shown(forwarded(INNER, fields), 'a.eml');
    expect(found[0]).toBe('# Outer');
    expect(found.slice(2)).toEqual([
      'See below.',
      ...heading,
      `${heading.length === 0 ? '##' : '###'} Inner`,
      'From: b@x.example\nSubject: Inner',
      'The quokka sleeps.',
    ]);
  });

  it('is left out where it is damaged, and the mail is read', async () =>
    expect(
      await shown(
        forwarded('', 'Content-Type: message/rfc822\r\nContent-Disposition: attachment; filename="b.eml"'),
        'a.eml',
      ),
    ).toContain('See below.'));
});

it.each(['The ftyp box of an MP4 file.', 'OggS begins a page.', 'GIF89a is a format.', 'RIFFs and WEBP'])(
  'a text that begins like a picture or a film is a text: %s',
  async (text) => expect(await shown(text, 'a.txt', 'text/plain')).toEqual([text]),
);

const paragraph = (text: string): string => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;
const word = (inner: string): string => `<w:document xmlns:w="w"><w:body>${inner}</w:body></w:document>`;

describe('a Word document', () => {
  it('is found under whatever name its main part has', async () =>
    expect(
      await shown(
        zipFile({
          '_rels/.rels': relations({ rId1: ['officeDocument', '/word/document2.xml'] }),
          'word/document2.xml': word(paragraph('Zwei')),
        }),
      ),
    ).toEqual(['Zwei']));

  it('shows what was moved once, where it is now', async () =>
    expect(
      await shown(
        docxFile([], {
          'word/document.xml': word(
            '<w:p><w:moveFrom><w:r><w:t>Moved.</w:t></w:r></w:moveFrom></w:p>' +
              `${paragraph('Between.')}<w:p><w:moveTo><w:r><w:t>Moved.</w:t></w:r></w:moveTo></w:p>`,
          ),
        }),
      ),
    ).toEqual(['Between.', 'Moved.']));

  it('shows the head and the foot of its pages at the end, once each', async () =>
    expect(
      await shown(
        docxFile([{ text: 'Body.' }], {
          'word/_rels/document.xml.rels': relations({
            rId1: ['header', 'header1.xml'],
            rId2: ['header', 'header2.xml'],
            rId3: ['footer', 'footer1.xml'],
          }),
          'word/header1.xml': `<w:hdr xmlns:w="w">${paragraph('Aktenzeichen 4711')}</w:hdr>`,
          'word/header2.xml': `<w:hdr xmlns:w="w">${paragraph('Aktenzeichen 4711')}</w:hdr>`,
          'word/footer1.xml': `<w:ftr xmlns:w="w">${paragraph('Vertraulich')}</w:ftr>`,
        }),
      ),
    ).toEqual(['Body.', 'Aktenzeichen 4711', 'Vertraulich']));
});

const OFFICE_RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

describe('a workbook', () => {
  it('is read whatever prefixes and cases of names its producer took', async () =>
    expect(
      await shown(
        zipFile({
          'xl/workbook.xml': `<x:workbook xmlns:x="s" xmlns:d3p1="${OFFICE_RELATIONS}"><x:sheets><x:sheet name="S" sheetId="1" d3p1:id="rId1"/></x:sheets></x:workbook>`,
          'xl/_rels/workbook.xml.rels': relations({ rId1: ['worksheet', '/xl/worksheets/Sheet1.xml'] }),
          'xl/SharedStrings.xml': '<sst><si><t>Geteilt</t></si></sst>',
          'xl/worksheets/sheet1.xml':
            '<x:worksheet xmlns:x="s"><x:row r="4"><x:c r="A4" t="s"><x:v>0</x:v></x:c><x:c><x:v>2</x:v></x:c></x:row></x:worksheet>',
        }),
      ),
    ).toEqual(['# S @S', 'Geteilt; 2. @S,4']));

  it('keeps the names of columns without values', async () => {
    const rows = [
      ['Artikel', 'Preis', 'Bemerkung'],
      ['A', 1],
    ];
    expect(await shown(xlsxFile({ S: rows }))).toEqual([
      '# S @S',
      'Artikel; Preis; Bemerkung. @S,1',
      'Artikel: A; Preis: 1. @S,2',
    ]);
    expect(await shown('Name\nJürgen, Dr.\nÖzlem\n', 'a.csv')).toContain('Jürgen; Dr. @2');
  });
});

it('a slide that is missing keeps its number', async () => {
  const slide = (text: string) =>
    `<p:sld xmlns:a="a" xmlns:p="p"><p:sp><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:sp></p:sld>`;
  expect(
    await shown(
      zipFile({
        'ppt/presentation.xml': `<p:presentation xmlns:p="p" xmlns:q="${OFFICE_RELATIONS}"><p:sldId q:id="rId1" id="256"/><p:sldId id="257" q:id="rId2"/><p:sldId id="258" q:id="rId3"/></p:presentation>`,
        'ppt/_rels/presentation.xml.rels': relations({
          rId1: ['slide', 'slides/slide1.xml'],
          rId2: ['slide', 'slides/slide2.xml'],
          rId3: ['slide', 'slides/slide3.xml'],
        }),
        'ppt/slides/slide1.xml': slide('Eins'),
        'ppt/slides/slide3.xml': slide('Drei'),
      }),
    ),
  ).toEqual(['#  @1', 'Eins @1', '#  @3', 'Drei @3']);
  expect(await failure(pptxFile([]))).toBe('no_text');
});

it('an Office part is read in the encoding that it declares', async () =>
  expect(
    await shown(
      zipFile({
        'word/document.xml': Buffer.from(
          `<?xml version="1.0" encoding="ISO-8859-1"?>${word(paragraph('Größe'))}`,
          'latin1',
        ),
      }),
    ),
  ).toEqual(['Größe']));

describe('a page', () => {
  it('has no list items behind a table that stand in its cells', async () =>
    expect(
      await shown(
        '<h1>Über uns</h1><table><tr><td>Name<td><ul><li>Item</li></ul></td></tr></table><p>After</p>',
        'a.html',
      ),
    ).toEqual(['# Über uns', 'Name; Item.', 'After']));

  it('does not show the titles of drawings', async () =>
    expect(await shown('<p>Press <svg><title>Icon</title></svg>here</p>', 'a.html')).toEqual(['Press here']));
});

it('a long name of a sheet is cut between letters', async () => {
  const name = `${'a'.repeat(199)}\u{1f600} and more`;
  const rows = [
    ['Animal', 'Food'],
    ['Zebra', 'Grass'],
  ];
  const { blocks } = await extract({ name: 'a.xlsx', mimeType: '', body: xlsxFile({ [name]: rows }) }, 1_000_000);
  const sheets = blocks.flatMap(({ place }) => (place?.sheet === undefined ? [] : [place.sheet]));
  expect(sheets.length).toBeGreaterThan(0);
  expect(sheets.every((sheet) => sheet.isWellFormed())).toBe(true);
});
