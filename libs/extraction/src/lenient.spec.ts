import { failure, shown } from '../../../test/fixtures/files/extracted';
import { relations, zipFile } from '../../../test/fixtures/files/office';

describe('JSON', () => {
  it('may have the comments and commas that editors allow in settings', async () =>
    expect(
      await shown('{\n  // one, {\n  "a": "x // y /* z", /* two\n */ "b": [1, 2,],\n  "c": "\\",}",\n}\n', 'a.json'),
    ).toEqual(['a: x // y /* z', 'b: 1, 2', 'c: ",}']));

  it('a line each keeps its values where one line is none', async () =>
    expect(await shown('{"a":1}\n{"a":2}\n{broken\n{"a":3}\n', 'a.jsonl')).toEqual([
      '[0].a: 1',
      '[1].a: 2',
      '[2]: {broken',
      '[3].a: 3',
    ]));

  it.each(['{"a": [1, 2, {"b": "x"', '{\n  "a": [\n    1,\n    2\n', '{"a": "\\', '/* never ends {"a": 1}', ','])(
    'that is cut off is malformed: %s',
    async (text) => expect(await failure(text, 'a.json')).toBe('malformed'),
  );

  it('without an end takes no time by the square of its length', async () => {
    for (const part of ['\\"', '/*', ',  ', '"'])
      expect(await failure(`{${part.repeat(500_001)}`, 'a.json')).toBe('malformed');
  });
});

describe('an encoding', () => {
  const czech = 'Dvořák Příliš';
  // In Latin 2.
  const bytes = Buffer.from(czech.replace('ř', '\u00f8').replace('Př', 'P\u00f8').replace('š', '\u00b9'), 'latin1');
  const page = (head: string): Buffer =>
    Buffer.concat([Buffer.from(head), Buffer.from('<body><p>'), bytes, Buffer.from('</p></body></html>')]);

  it('is the one that a page says as XML, or far down in its head', async () => {
    expect(await shown(page('<?xml version="1.0" encoding="ISO-8859-2"?><html>'), 'a.xhtml')).toEqual([czech]);
    const late = `<!doctype html><html><!-- ${'x'.repeat(3_000)} --><meta charset="iso-8859-2">`;
    expect(await shown(page(late), 'a.html')).toEqual([czech]);
    const book = zipFile({
      'META-INF/container.xml': '<container><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>',
      'book.opf':
        '<package><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>',
      'a.xhtml': page('<?xml version="1.0" encoding="ISO-8859-2"?><html>'),
    });
    expect(await shown(book)).toEqual(['# ', czech]);
  });

  it('has the euro sign of Latin 9', async () =>
    expect(await shown(Buffer.from('Preis 5 \u00a4 f\u00fcr \u00d6l', 'latin1'), 'a.txt')).toEqual([
      'Preis 5 € für Öl',
    ]));
});

it('a binary workbook is no damaged file', async () =>
  expect(
    await failure(
      zipFile({ '_rels/.rels': relations({ r1: ['officeDocument', 'xl/workbook.bin'] }), 'xl/workbook.bin': 'x' }),
    ),
  ).toBe('unsupported_type'));

it('a Word document that takes in a page shows it', async () =>
  expect(
    await shown(
      zipFile({
        'word/document.xml':
          '<w:document xmlns:w="w" xmlns:r="r"><w:body><w:altChunk r:id="rId9"/><w:p><w:r><w:t>Danach.</w:t></w:r></w:p></w:body></w:document>',
        'word/_rels/document.xml.rels': relations({ rId9: ['aFChunk', '/word/page.html'] }),
        'word/page.html': '<html><body><h1>Titel</h1><p>Aus der Seite.</p></body></html>',
      }),
    ),
  ).toEqual(['# Titel', 'Aus der Seite.', 'Danach.']));
