import { docxFile, epubFile, pptxFile, xlsxFile } from '../../../test/fixtures/files/office';
import { cyclicPdf, encryptedPdf, pdfFile, pdfLines } from '../../../test/fixtures/files/pdf';
import { jpegFile, pngFile } from '../../../test/fixtures/files/png';
import { failure, read, shown } from '../../../test/fixtures/files/extracted';

describe('a PDF', () => {
  it('is read page by page, with headings by their size', async () =>
    expect(
      await shown(
        pdfFile([
          [
            { text: 'Kündigung', y: 780, size: 20 },
            ...pdfLines(['Die Frist beträgt drei Monate', 'zum Quartalsende.']).map((line) => ({
              ...line,
              y: line.y - 60,
            })),
          ],
          pdfLines(['Schriftlich genügt.']),
        ]),
      ),
    ).toEqual(['# Kündigung @1', 'Die Frist beträgt drei Monate zum Quartalsende. @1', 'Schriftlich genügt. @2']));

  it('joins words that a line end divides, spells out ligatures and drops soft hyphens', async () =>
    expect(
      await shown(
        pdfFile([
          pdfLines([
            'Die Donaudampf-',
            'schifffahrt ist ofﬁziell Vor-',
            'und Nachteil der Nord-',
            'Ostsee-Linie: Ge\u00adsell\u00adschaft',
          ]),
        ]),
      ),
    ).toEqual(['Die Donaudampfschifffahrt ist offiziell Vor- und Nachteil der Nord-Ostsee-Linie: Gesellschaft @1']));

  it('is read from the top of a page down, however it was drawn, and column by column', async () => {
    const lines = pdfLines(['First.', 'Second.', 'Third.']);
    expect(await shown(pdfFile([lines.toReversed()]))).toEqual(['First. Second. Third. @1']);
    const column = (x: number, word: string) =>
      pdfLines([`${word} one`, `${word} two`]).map((line) => ({ ...line, x }));
    expect(await shown(pdfFile([[...column(72, 'Left'), ...column(320, 'Right')]]))).toEqual([
      'Left one Left two @1',
      'Right one Right two @1',
    ]);
  });

  it.each([
    ['without text', pdfFile([[], []]), 'no_text'],
    ['with a password', encryptedPdf(), 'encrypted'],
    ['cut off in its head', Buffer.from('%PDF-1.7\n%abc'), 'malformed'],
    ['whose pages refer to themselves', cyclicPdf(), 'malformed'],
  ])('%s fails with its code', async (_, body, code) => expect(await failure(body)).toBe(code));
});

it.each(['a.pdf', 'a.docx', 'a.png', 'a.eml', 'a.json', 'a.rtf', 'a.epub', 'a.html', 'a.md', 'a.csv', 'a.txt'])(
  'an empty file has no text, whatever it is called: %s',
  async (name) => expect(await failure(Buffer.alloc(0), name)).toBe('empty_document'),
);

describe('a Word document', () => {
  it('has headings by style, paragraphs, rows and notes', async () =>
    expect(
      await shown(
        docxFile(
          [
            { heading: 'Über uns', style: 'berschrift1' },
            { text: 'Wir liefern <alles> & mehr.' },
            { heading: 'Preise', style: 'berschrift2' },
            {
              rows: [
                ['Artikel', 'Preis'],
                ['Zange', '12 €'],
              ],
            },
          ],
          {
            'word/footnotes.xml':
              '<w:footnotes xmlns:w="w"><w:footnote><w:p><w:r><w:t>Ohne Gewähr.</w:t></w:r></w:p></w:footnote></w:footnotes>',
          },
        ),
      ),
    ).toEqual([
      '# Über uns',
      'Wir liefern <alles> & mehr.',
      '## Preise',
      'Artikel; Preis.',
      'Zange; 12 €.',
      'Ohne Gewähr.',
    ]));

  it('shows text boxes once, and not what was deleted', async () =>
    expect(
      await shown(
        docxFile([], {
          'word/document.xml':
            '<w:document xmlns:w="w" xmlns:mc="m"><w:body><w:p><w:r><w:t>Kept </w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><mc:AlternateContent><mc:Choice><w:p><w:r><w:t>Box</w:t></w:r></w:p></mc:Choice><mc:Fallback><w:p><w:r><w:t>Box</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent></w:p></w:body></w:document>',
        }),
      ),
    ).toEqual(['Box', 'Kept']));
});

it('a workbook has rows that name their columns, at sheet and row, with dates', async () =>
  expect(
    await shown(
      xlsxFile({
        Costs: [
          ['Costs of the year'],
          [],
          ['Item', 'Amount', 'Paid on'],
          ['Rent', 1200.5, { date: '2026-03-01' }],
          ['Strom', 0.1 + 0.2, null],
        ],
        'Größe & Co': [
          ['A', 'B'],
          [1, 2],
        ],
      }),
    ),
  ).toEqual([
    '# Costs @Costs',
    'Costs of the year. @Costs,1',
    'Item: Rent; Amount: 1200.5; Paid on: 2026-03-01. @Costs,4',
    'Item: Strom; Amount: 0.3. @Costs,5',
    '# Größe & Co @Größe & Co',
    'A: 1; B: 2. @Größe & Co,2',
  ]));

it('a presentation has its slides in their order, with notes, and each its own title', async () =>
  expect(
    await shown(
      pptxFile([
        { title: 'Start', lines: ['Erster Punkt'], notes: 'Langsam sprechen.' },
        { lines: ['Ohne Titel'] },
        { title: 'Ende' },
      ]),
    ),
  ).toEqual([
    '# Start @1',
    'Erster Punkt @1',
    'Langsam sprechen. @1',
    '#  @2',
    'Ohne Titel @2',
    '# Ende @3',
    'Ende @3',
  ]));

it('a book has its chapters in order', async () =>
  expect(await shown(epubFile(['<h1>Eins</h1><p>Es&nbsp;war einmal.</p>', '<p>Ende.</p>']))).toEqual([
    '# ',
    '# Eins',
    'Es war einmal.',
    '# ',
    'Ende.',
  ]));

describe('a page', () => {
  it('shows headings, paragraphs, lists, tables and code, and nothing that browsers do not show', async () =>
    expect(
      await shown(
        '<!doctype html><html><head><title>Haus</title><style>p{}</style><script>alert("x")</script><body><h1>Über&shy;blick</h1><p>Ein <b>Satz</b>.<p hidden>Geheim</p><div style="display: none">Unsichtbar</div><ul><li>eins<li>zwei</ul><table><tr><th>Art</th><th>Preis</th></tr><tr><td>Zange</td><td>12&nbsp;€</td></tr></table><pre>a {\n  b\n}</pre><img alt="Ein Zebra" src="http://127.0.0.1:9/x.png">',
      ),
    ).toEqual([
      'Haus',
      '# Überblick',
      'Ein Satz.',
      '- eins',
      '- zwei',
      'Art: Zange; Preis: 12 €.',
      'a {\n  b\n}',
      'Ein Zebra',
    ]));

  it('is read in the charset that it names', async () =>
    expect(
      await shown(
        Buffer.from('<!doctype html><meta charset="windows-1250"><p>Dvořák</p>'.replace('ř', '\u00f8'), 'latin1'),
      ),
    ).toEqual(['Dvořák']));
});

describe('separated values', () => {
  it.each([
    [
      'commas and quotes',
      'Name,Note\n"Meyer, Jo","says ""no""\nand goes"\n',
      'a.csv',
      ['Name: Meyer, Jo; Note: says "no" and goes. @2'],
    ],
    [
      'semicolons, as in German',
      'Name;Betrag\nMüller;1,50\nMeier;2\n',
      'a.csv',
      ['Name: Müller; Betrag: 1,50. @2', 'Name: Meier; Betrag: 2. @3'],
    ],
    ['tabs', 'a\tb\n1\t2\n', 'a.tsv', ['a: 1; b: 2. @2']],
    ['no header', '1,2\n3,4\n', 'a.csv', ['1; 2. @1', '3; 4. @2']],
  ])('with %s have a sentence for each row', async (_, text, name, rows) =>
    expect(await shown(text, name)).toEqual(rows),
  );

  it('have the rows of a long table joined', async () => {
    const text = `id;word\n${Array.from({ length: 6_000 }, (_, index) => `${index};w${index}`).join('\n')}`;
    const { blocks } = await read(text, 'a.csv');
    expect(blocks.length).toBeLessThan(1_000);
    expect(blocks[1]?.place).toEqual({ row: 22 });
  });
});

it('JSON has its values behind their paths, with all digits', async () => {
  const text = '{"orders":[{"id":12345678901234567890,"tags":["a","b"]},{"id":2,"to":{"name":"Müller"}}],"open":true}';
  expect(await shown(text, 'a.json')).toEqual([
    'orders[0].id: 12345678901234567890\norders[0].tags: a, b',
    'orders[1].id: 2\norders[1].to.name: Müller',
    'open: true',
  ]);
  expect(await shown('{"a":1}\n{"a":2}\n', 'a.jsonl')).toEqual(['[0].a: 1', '[1].a: 2']);
});

it('RTF has umlauts, other scripts, headings and rows, and nothing of its tables', async () =>
  expect(
    await shown(
      "{\\rtf1\\ansi\\ansicpg1252{\\fonttbl{\\f0\\fcharset0 Arial;}{\\f1\\fcharset204 Arial;}}{\\info{\\title No}}\\pard\\outlinelevel0 \\'dcbersicht\\par\\pard Gr\\u252?\\u223?e {\\f1 \\'cf\\'f0} \\bin3 abc\\par\\trowd Art\\cell Preis\\cell\\row{\\*\\secret no}Ende\\par}",
    ),
  ).toEqual(['# Übersicht', 'Grüße Пр', 'Art; Preis.', 'Ende']));

describe('a mail', () => {
  it('has its head, its text, and what text attachments say', async () =>
    expect(
      await shown(
        [
          'From: =?iso-8859-1?Q?J=FCrgen?= <j@example.com>',
          'To: Anna <a@example.com>',
          'Subject: =?utf-8?B?S8O8bmRpZ3VuZw==?=',
          'Date: Mon, 02 Mar 2026 10:00:00 +0100',
          'MIME-Version: 1.0',
          'Content-Type: multipart/mixed; boundary="b"',
          '',
          '--b',
          'Content-Type: text/plain; charset=iso-8859-1',
          'Content-Transfer-Encoding: quoted-printable',
          '',
          'Gr=FC=DFe',
          '--b',
          'Content-Type: text/plain; name="notiz.txt"',
          'Content-Disposition: attachment; filename="notiz.txt"',
          '',
          'Die Notiz.',
          '--b',
          'Content-Type: application/pdf; name="a.pdf"',
          'Content-Disposition: attachment; filename="a.pdf"',
          '',
          '%PDF-',
          '--b--',
        ].join('\r\n'),
        'a.eml',
      ),
    ).toEqual([
      '# Kündigung',
      'From: Jürgen <j@example.com>\nTo: Anna <a@example.com>\nDate: 2026-03-02T09:00:00.000Z\nSubject: Kündigung\nAttachments: notiz.txt, a.pdf',
      'Grüße',
      '## notiz.txt',
      'Die Notiz.',
    ]));

  it('in HTML alone is read as a page', async () =>
    expect(
      await shown(
        'From: a@example.com\r\nSubject: Hi\r\nContent-Type: text/html\r\n\r\n<p>One</p><p>Two</p>',
        '',
        'message/rfc822',
      ),
    ).toEqual(['# Hi', 'From: a@example.com\nSubject: Hi', 'One', 'Two']));
});

describe('an image', () => {
  it.each([
    ['PNG', pngFile({ Description: 'Größe der Zebras' })],
    ['compressed PNG', pngFile({ Description: 'Größe der Zebras' }, true)],
    ['JPEG', jpegFile(0x010e, 'Größe der Zebras')],
  ])('says what its texts say: %s', async (_, body) =>
    expect((await shown(body)).join()).toMatch(/^(?:Image)?Description: Größe der Zebras$/),
  );

  it('that says nothing has no text', async () => expect(await failure(pngFile())).toBe('no_text'));
});
