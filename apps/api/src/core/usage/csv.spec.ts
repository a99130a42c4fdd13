import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type Cell, csvOf, wantsCsv } from './csv';

const textOf = (pages: readonly (readonly Cell[])[]): Promise<string> =>
  text(Readable.from(csvOf({ n: (cell: Cell) => cell, 'a, b': () => 1 }, pages)));

describe('a table as CSV', () => {
  it('quotes what would end a cell, and disarms what spreadsheets would run', async () => {
    const cells = [
      'plain',
      'a,b',
      'say "hi"',
      'two\nlines',
      '=1+1',
      '+1',
      '-1',
      '@SUM(A1)',
      '\tx',
      '\n=1',
      '＝1+1',
      '＠SUM',
      '="a","b"',
      '',
      null,
      -1,
      true,
    ];
    expect((await textOf([cells])).split('\r\n')).toEqual([
      'n,"a, b"',
      'plain,1',
      '"a,b",1',
      '"say ""hi""",1',
      '"two\nlines",1',
      "'=1+1,1",
      "'+1,1",
      "'-1,1",
      "'@SUM(A1),1",
      "'\tx,1",
      `"'\n=1",1`,
      "'＝1+1,1",
      "'＠SUM,1",
      `"'=""a"",""b""",1`,
      ',1',
      ',1',
      '-1,1',
      'true,1',
      '',
    ]);
  });

  it('has a header where there are no rows, and one line a row over all pages', async () => {
    expect(await textOf([])).toBe('n,"a, b"\r\n');
    expect(await textOf([[1], [], [2, 3]])).toBe('n,"a, b"\r\n1,1\r\n2,1\r\n3,1\r\n');
  });

  it('reads on only as its reader does', async () => {
    let pages = 0;
    const endless = function* () {
      for (;;) yield [(pages += 1)];
    };
    const reading = Readable.from(csvOf({ n: (cell: Cell) => cell }, endless()))[Symbol.asyncIterator]();
    for (let read = 0; read < 5; read += 1) await reading.next();
    expect(pages).toBeLessThan(10);
    await reading.return?.();
  });

  it.each([
    ['text/csv', true],
    ['Text/CSV; q=0.9, application/json', true],
    ['application/json, text/csv', false],
    ['*/*', false],
    ['text/html, */*, text/csv', false],
    [undefined, false],
  ])('is what is asked for by %s: %s', (accept, wanted) => expect(wantsCsv(accept)).toBe(wanted));
});
