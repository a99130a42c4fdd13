import { zipNames } from './zip-names';

it.each([
  ['../../etc/passwd', '.._.._etc_passwd'],
  ['..\\..\\boot.ini', '.._.._boot.ini'],
  ['/etc/passwd', '_etc_passwd'],
  ['C:\\a.txt', 'C__a.txt'],
  ['..', 'document'],
  ['. .', 'document'],
  ['', 'document'],
  ['a\r\nb\u0000.txt', 'a__b_.txt'],
  ['\u202etxt.exe', '_txt.exe'],
  ['CON', '_CON'],
  ['nul.txt', '_nul.txt'],
  ['Aux .md', '_Aux.md'],
  ['COM¹.log', '_COM¹.log'],
  ['Console.txt', 'Console.txt'],
  ['a.txt. . ', 'a.txt'],
  ['Übersicht ✓.md', 'Übersicht ✓.md'],
  ['U\u0308bersicht.md', '\u00dcbersicht.md'],
])('%j becomes %j', (name, safe) => expect(zipNames([name])).toEqual([safe]));

it('no two names are one, whatever a file system makes of case and Unicode', () => {
  expect(
    zipNames(['a.md', 'A.MD', 'a.md', 'a (2).md', 'ａ.md', 'a', 'A', '\u00fc.txt', 'u\u0308.txt', 'x/y', 'x\\y']),
  ).toEqual([
    'a.md',
    'A (2).MD',
    'a (3).md',
    'a (2) (2).md',
    'ａ (4).md',
    'a',
    'A (2)',
    '\u00fc.txt',
    '\u00fc (2).txt',
    'x_y',
    'x_y (2)',
  ]);
});

it('a long name keeps its ending and ends between characters, also beside many of its kind', () => {
  const long = `${'🦓'.repeat(200)}.md`;
  const names = zipNames(Array.from({ length: 1_000 }, () => long));
  expect(new Set(names).size).toBe(1_000);
  for (const name of names) {
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(200);
    expect(name).toMatch(/^🦓+(?: \(\d+\))?\.md$/u);
  }
  expect(Buffer.byteLength(zipNames([`a.${'x'.repeat(400)}`])[0] as string)).toBeLessThanOrEqual(200);
});
