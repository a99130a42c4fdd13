import { docxFile, relations, xlsxFile, zipFile } from '../../../test/fixtures/files/office';
import { failure, shown } from '../../../test/fixtures/files/extracted';

const cell = (reference: string, text: string): string => `<c r="${reference}" t="str"><v>${text}</v></c>`;
const row = (number: number, cells: Readonly<Record<string, string>>, attributes = ''): string =>
  `<row r="${number}" ${attributes}>${Object.entries(cells)
    .map(([column, text]) => cell(`${column}${number}`, text))
    .join('')}</row>`;
const merged = (...refs: readonly string[]): string =>
  `<mergeCells>${refs.map((ref) => `<mergeCell ref="${ref}"/>`).join('')}</mergeCells>`;

interface SheetParts {
  readonly before?: string;
  readonly rows: readonly string[];
  readonly behind?: string;
  readonly more?: Readonly<Record<string, string>>;
}
/** A workbook of one sheet, `S`, as XML. */
const sheet = ({ before = '', rows, behind = '', more = {} }: SheetParts): Promise<readonly string[]> =>
  shown(
    zipFile({
      'xl/workbook.xml': `<workbook xmlns:r="r"><sheets><sheet name="S" r:id="rId1"/></sheets></workbook>`,
      'xl/_rels/workbook.xml.rels': relations({ rId1: ['worksheet', 'worksheets/sheet1.xml'] }),
      'xl/worksheets/sheet1.xml': `<worksheet>${before}<sheetData>${rows.join('')}</sheetData>${behind}</worksheet>`,
      ...more,
    }),
  ).then((found) => found.slice(1).map((line) => line.replace(' @S,', ' @')));

describe('a workbook', () => {
  it('says in each row what a cell over several rows says', async () =>
    expect(
      await sheet({
        rows: [
          row(1, { A: 'Gruppe', B: 'Artikel' }),
          row(2, { A: 'Werkzeug', B: 'Zange' }),
          row(3, { B: 'Säge' }),
          row(4, { A: 'Möbel', B: 'Stuhl' }),
        ],
        behind: merged('A2:A3'),
      }),
    ).toEqual([
      'Gruppe: Werkzeug; Artikel: Zange. @2',
      'Gruppe: Werkzeug; Artikel: Säge. @3',
      'Gruppe: Möbel; Artikel: Stuhl. @4',
    ]));

  it('names columns by the groups above them, and takes no title over the table for one', async () =>
    expect(
      await sheet({
        rows: [
          row(1, { A: 'Umsatz' }),
          row(2, { A: 'Region', B: '2025', D: '2026' }),
          row(3, { B: 'Q1', C: 'Q2', D: 'Q1', E: 'Q2' }),
          row(4, { A: 'Nord', B: '1', C: '2', D: '3', E: '4' }),
        ],
        behind: merged('A1:E1', 'A2:A3', 'B2:C2', 'D2:E2'),
      }),
    ).toEqual(['Umsatz. @1', 'Region: Nord; 2025 Q1: 1; 2025 Q2: 2; 2026 Q1: 3; 2026 Q2: 4. @4']));

  it('names columns by years and by months', async () => {
    const rows = [
      ['Region', 2024, 2025],
      ['Nord', 10, 20],
    ];
    expect(await shown(xlsxFile({ S: rows }))).toContain('Region: Nord; 2024: 10; 2025: 20. @S,2');
    const months = [
      ['Region', { date: '2026-01-01' }, { date: '2026-02-01' }],
      ['Nord', 10, 20],
    ];
    expect(await shown(xlsxFile({ S: months }))).toContain('Region: Nord; 2026-01-01: 10; 2026-02-01: 20. @S,2');
    expect(await shown('Müller;1985\nMeier;1990\n', 'a.csv')).toContain('Müller; 1985. @1');
  });

  it('gives each of two tables below each other its own names', async () =>
    expect(
      await sheet({
        rows: [
          row(1, { A: 'Artikel', B: 'Preis' }),
          row(2, { A: 'Zange', B: '3' }),
          row(4, { A: 'Ort', B: 'Einwohner' }),
          row(5, { A: 'Köln', B: '1000' }),
        ],
      }),
    ).toEqual(['Artikel: Zange; Preis: 3. @2', 'Ort: Köln; Einwohner: 1000. @5']));

  it.each([
    ['nothing is counted', { A: 'Cem', B: 'Ulm' }, 'Name: Cem; Ort: Ulm. @5'],
    ['something has no name', { A: '7', B: 'Ulm', C: '8' }, 'Name: 7; Ort: Ulm; 8. @5'],
  ])('takes names behind an empty row for more of the same where %s below them', async (_, last, told) =>
    expect(
      await sheet({
        rows: [
          row(1, { A: 'Name', B: 'Ort' }),
          row(2, { A: 'Anna', B: 'Köln' }),
          row(4, { A: 'Bernd', B: 'Bonn' }),
          row(5, last),
        ],
      }),
    ).toEqual(['Name: Anna; Ort: Köln. @2', 'Name: Bernd; Ort: Bonn. @4', told]),
  );

  it('takes the names of a table that says how its columns are called', async () =>
    expect(
      await sheet({
        rows: [
          row(1, { A: 'Item', B: 'Total' }),
          row(2, { A: 'a', B: '1' }),
          row(3, { A: 'K', B: 'V' }),
          row(4, { A: 'k1', B: 'v1' }),
        ],
        more: {
          'xl/worksheets/_rels/sheet1.xml.rels': relations({ rId1: ['table', '../tables/table1.xml'] }),
          'xl/tables/table1.xml':
            '<table ref="A3:B4"><tableColumns><tableColumn name="K"/><tableColumn name="V"/></tableColumns></table>',
        },
      }),
    ).toEqual(['Item: a; Total: 1. @2', 'K: k1; V: v1. @4']));

  it('does not show what was hidden by hand, but what a filter or an outline hides', async () => {
    const rows = (attributes: string) => [
      row(1, { A: 'Name', B: 'Gehalt', C: 'Ort' }),
      row(2, { A: 'Anna', B: '5000', C: 'Köln' }),
      row(3, { A: 'Bernd', B: '6000', C: 'Bonn' }, attributes),
    ];
    const before = '<cols><col min="2" max="2" hidden="1"/></cols>';
    expect(await sheet({ before, rows: rows('hidden="1"') })).toEqual(['Name: Anna; Ort: Köln. @2']);
    const all = ['Name: Anna; Ort: Köln. @2', 'Name: Bernd; Ort: Bonn. @3'];
    expect(await sheet({ before, rows: rows('hidden="1" outlineLevel="1"') })).toEqual(all);
    const behind = '<autoFilter ref="A1:C3"><filterColumn colId="0"/></autoFilter>';
    expect(await sheet({ before, rows: rows('hidden="1"'), behind })).toEqual(all);
    const hidden = zipFile({
      'xl/workbook.xml': `<workbook xmlns:r="r"><sheets><sheet name="S" state="veryHidden" r:id="rId1"/></sheets></workbook>`,
      'xl/_rels/workbook.xml.rels': relations({ rId1: ['worksheet', 'worksheets/sheet1.xml'] }),
      'xl/worksheets/sheet1.xml': `<worksheet>${row(1, { A: 'Marge' })}</worksheet>`,
    });
    expect(await failure(hidden)).toBe('no_text');
  });

  it.each([
    ['0%', '0.19', '19%'],
    ['0.0%', '0.075', '7.5%'],
    ['#,##0.00 "€"', '1234.5', '1234.50 €'],
    ['_-* #,##0.00\\ "€"_-;\\-* #,##0.00\\ "€"_-;_-* "-"??\\ "€"_-;_-@_-', '-99.5', '-99.50 €'],
    ['[$€-407]#,##0.00;[Red]-[$€-407]#,##0.00', '12', '€12.00'],
    ['"$"#,##0', '1234.5', '$1235'],
    ['00000', '1067', '01067'],
    ['"AN-"0000', '17', 'AN-0017'],
    ['0.0 "kg"', '12.5', '12.5 kg'],
    ['#,##0.###', '1.5', '1.5'],
    ['[h]:mm', '1.5', '36:00:00'],
    ['# ?/?', '0.5', '0.5'],
    ['0.00E+00', '15000000000', '15000000000'],
    ['General', '0.30000000000000004', '0.3'],
    [';;;', '7', '7'],
  ])('shows a number as its format does: %s', async (code, value, told) =>
    expect(
      await sheet({
        rows: [`<row r="1"><c r="A1" s="0"><v>${value}</v></c></row>`],
        more: {
          'xl/styles.xml': `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="${code.replaceAll('"', '&quot;')}"/></numFmts><cellXfs><xf numFmtId="164"/></cellXfs></styleSheet>`,
        },
      }),
    ).toEqual([`${told}. @1`]),
  );

  it('has what its text boxes say behind its rows', async () =>
    expect(
      await sheet({
        rows: [row(1, { A: 'Zahl' })],
        more: {
          'xl/worksheets/_rels/sheet1.xml.rels': relations({ rId1: ['drawing', '../drawings/drawing1.xml'] }),
          'xl/drawings/drawing1.xml':
            '<xdr:wsDr xmlns:xdr="x" xmlns:a="a"><xdr:sp><a:p><a:r><a:t>Stand: Mai</a:t></a:r></a:p></xdr:sp></xdr:wsDr>',
        },
      }),
    ).toEqual(['Zahl. @1', 'Stand: Mai @S']));

  it('says in each line of a long row what the row is about', async () => {
    const columns = Array.from({ length: 100 }, (_, index) => `Spalte ${index}`);
    const [, wide = ''] = await shown(
      xlsxFile({
        S: [
          ['Artikel', ...columns],
          ['Zange', ...columns],
        ],
      }),
    );
    const lines = wide.replace(/ @.*/, '').split('\n');
    expect(lines.length).toBeGreaterThan(2);
    for (const line of lines) expect(line).toMatch(/^Artikel: Zange; Spalte \d+: Spalte \d+;.*\.$/);
    expect(lines.at(-1)).toMatch(/Spalte 99: Spalte 99\.$/);
  });
});

it('separated values take the delimiter that their first line says', async () =>
  expect(await shown('sep=|\r\nName|Orte\r\nAnna|Köln; Bonn; Ulm\r\n', 'a.csv')).toEqual([
    'Name: Anna; Orte: Köln; Bonn; Ulm. @3',
  ]));

describe('a table of a page', () => {
  it.each([
    [
      'cells over several rows and columns',
      '<tr><th>Gruppe<th>Artikel<th>Preis<tr><td rowspan=2>Werkzeug<td>Zange<td>3<tr><td>Säge<td>9<tr><td colspan=2>Summe<td>12',
      [
        'Gruppe: Werkzeug; Artikel: Zange; Preis: 3.',
        'Gruppe: Werkzeug; Artikel: Säge; Preis: 9.',
        'Gruppe: Summe; Preis: 12.',
      ],
    ],
    [
      'a header of two rows',
      '<thead><tr><th rowspan=2>Region<th colspan=2>2025<tr><th>Q1<th>Q2</thead><tr><td>Nord<td>1<td>2',
      ['Region: Nord; 2025 Q1: 1; 2025 Q2: 2.'],
    ],
    ['a header alone', '<tr><th>Nur<th>Kopf', ['Nur; Kopf.']],
    ['names before their values', '<tr><th>Name<td>Müller<tr><th>Ort<td>Köln', ['Name; Müller.', 'Ort; Köln.']],
    ['a cell over more rows than there are', '<tr><td rowspan=0>A<td>1<tr><td>2', ['A; 1.', 'A; 2.']],
  ])('with %s has a sentence for each row', async (_, rows, lines) =>
    expect(await shown(`<table>${rows}</table>`, 'a.html')).toEqual(lines),
  );

  it('that lays out the page is none', async () =>
    expect(
      await shown(
        '<table><tr><td><h2>Neues</h2><p>Eins.</p><ul><li>a</ul></td><td><table role=presentation><tr><td>Zwei.<td>Drei.</table></table>',
        'a.html',
      ),
    ).toEqual(['## Neues', 'Eins.', '- a', 'Zwei.', 'Drei.']));

  it('ends where its cells span without end', async () =>
    expect(
      (await shown(`<table>${'<tr><td colspan=9999 rowspan=99999>x'.repeat(300)}</table><p>End</p>`, 'a.html')).at(-1),
    ).toBe('End'));
});

const tc = (text: string, properties = ''): string =>
  `<w:tc><w:tcPr>${properties}</w:tcPr><w:p><w:r><w:t>${text}</w:t></w:r></w:p></w:tc>`;
const wordTable = (...rows: readonly string[]): Promise<readonly string[]> =>
  shown(
    docxFile([], {
      'word/document.xml': `<w:document xmlns:w="w"><w:body><w:tbl>${rows.join('')}</w:tbl></w:body></w:document>`,
    }),
  );

it('a table of a Word document has its names and its joined cells in each row', async () => {
  const rows = [
    `<w:tr>${tc('Gruppe')}${tc('Artikel')}${tc('Preis')}</w:tr>`,
    `<w:tr>${tc('Werkzeug', '<w:vMerge w:val="restart"/>')}${tc('Zange')}${tc('3')}</w:tr>`,
    `<w:tr>${tc('', '<w:vMerge/>')}${tc('Säge')}${tc('9')}</w:tr>`,
    `<w:tr>${tc('Summe', '<w:gridSpan w:val="2"/>')}${tc('12')}</w:tr>`,
  ];
  const told = [
    'Gruppe: Werkzeug; Artikel: Zange; Preis: 3.',
    'Gruppe: Werkzeug; Artikel: Säge; Preis: 9.',
    'Gruppe: Summe; Preis: 12.',
  ];
  expect(await wordTable('<w:tblPr><w:tblLook w:val="04A0"/></w:tblPr>', ...rows)).toEqual(told);
  const [first = '', ...others] = rows;
  const repeated = first.replace('<w:tr>', '<w:tr><w:trPr><w:tblHeader/></w:trPr>');
  expect(await wordTable(repeated, ...others)).toEqual(told);
  expect(await wordTable(...rows)).toEqual([
    'Gruppe; Artikel; Preis.',
    'Werkzeug; Zange; 3.',
    'Werkzeug; Säge; 9.',
    'Summe; 12.',
  ]);
});

it('a table of a Word document that lays out its page is none', async () => {
  const heading = `<w:tc><w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:r><w:t>Über uns</w:t></w:r></w:p><w:p><w:r><w:t>Seit 1900.</w:t></w:r></w:p></w:tc>`;
  expect(await wordTable(`<w:tr>${heading}${tc('Rechts.')}</w:tr>`)).toEqual(['# Über uns', 'Seit 1900.', 'Rechts.']);
  expect(await wordTable(`<w:tr>${tc('Im Kasten.')}</w:tr>`)).toEqual(['Im Kasten.']);
});

it('a table of a slide has its names and its joined cells in each row', async () => {
  const a = (text: string, attributes = ''): string =>
    `<a:tc ${attributes}><a:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></a:txBody></a:tc>`;
  const slide = `<p:sld xmlns:a="a" xmlns:p="p"><p:graphicFrame><a:tbl><a:tblPr firstRow="1"/><a:tr>${a('Art')}${a('Preis')}${a('Ort')}</a:tr><a:tr>${a('Zange', 'rowSpan="2"')}${a('3')}${a('Köln')}</a:tr><a:tr>${a('', 'vMerge="1"')}${a('4')}${a('Bonn')}</a:tr></a:tbl></p:graphicFrame></p:sld>`;
  expect(
    await shown(
      zipFile({
        'ppt/presentation.xml': '<p:presentation xmlns:p="p" xmlns:r="r"><p:sldId r:id="rId1"/></p:presentation>',
        'ppt/_rels/presentation.xml.rels': relations({ rId1: ['slide', 'slides/slide1.xml'] }),
        'ppt/slides/slide1.xml': slide,
      }),
    ),
  ).toEqual(['#  @1', 'Art: Zange; Preis: 3; Ort: Köln. @1', 'Art: Zange; Preis: 4; Ort: Bonn. @1']);
});
