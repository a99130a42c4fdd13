import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { processorTime } from '../../../../test/fixtures/processor-time';
import { markdownBlocks, plainBlocks } from '@app/extraction';
import { chunksOf } from './chunk';
import { chunkLimits, MAX_WORDS } from './chunk-limits';

type Kind = 'markdown' | 'plain';
const cut = (text: string, kind: Kind) =>
  chunksOf({ text, blocks: kind === 'markdown' ? markdownBlocks(text) : plainBlocks(text) }, chunkLimits(text, null));

const chunks = (text: string, kind: Kind = 'markdown') =>
  cut(text, kind).map(({ headings, start, end }) => [headings.join(' > '), text.slice(start, end)]);
const words = (text: string): number => text.match(/\S+/g)?.length ?? 0;

it('chunks and their headings end with whole letters, whatever their length', () => {
  const faces = '\u{1f600}'.repeat(3_000);
  for (const text of [`a${faces} b`, `# a${faces}\n\nText.`, `# ${'a'.repeat(299)}${faces}\n\nText.`])
    for (const [headings = '', body = ''] of chunks(text))
      expect([headings, body]).toEqual([headings.toWellFormed(), body.toWellFormed()]);
});

describe('chunks of Markdown', () => {
  it('are headings too, together where nothing stands between them, and alone where text or a place ends them', () => {
    expect(chunks('# Calendar')).toEqual([['', '# Calendar']]);
    expect(chunks('# Calendar\n\n## Launch\n\n## Review\n\n# Staff\n\nAda.\n\n## Guests\n\n### Grace\n')).toEqual([
      ['Calendar', '## Launch\n\n## Review'],
      ['Staff', 'Ada.'],
      ['Staff > Guests', '### Grace'],
    ]);
    expect(chunks('# A\n\n# B\n\nText.')).toEqual([
      ['', '# A'],
      ['B', 'Text.'],
    ]);
    const slide = (page: number, start: number) =>
      ({ kind: 'heading', start, end: start + 2, level: 1, title: 'x', place: { slide: page } }) as const;
    const text = 'T1 T2';
    expect(chunksOf({ text, blocks: [slide(1, 0), slide(2, 3)] }, chunkLimits(text, null))).toMatchObject([
      { start: 0, end: 2, place: { slide: 1 } },
      { start: 3, end: 5, place: { slide: 2 } },
    ]);
  });

  it('know the headings above them and never cross one', () => {
    expect(
      chunks(
        'Intro.\n\n# One\n\nText.\n\n## `Two` **bold**\n\nMore.\n\nUnder\n-----\n\nEven more.\n\n# Three ##\n\nEnd.',
      ),
    ).toEqual([
      ['', 'Intro.'],
      ['One', 'Text.'],
      ['One > Two bold', 'More.'],
      ['One > Under', 'Even more.'],
      ['Three', 'End.'],
    ]);
  });

  it('join short neighbours and cut long ones at sentences', () => {
    const sentence = `${'word '.repeat(29)}end.`;
    const [first, second, ...rest] = chunks(`Short.\n\n${[sentence, sentence, sentence, sentence].join(' ')}`);
    expect(first?.[1]).toBe(`Short.\n\n${[sentence, sentence, sentence].join(' ')}`);
    expect(second?.[1]).toBe(sentence);
    expect(rest).toEqual([]);
  });

  it('leave a # in code alone, and keep the lines of code and tables whole', () => {
    const code = `\`\`\`sh\n${'# comment line of shell\n'.repeat(40)}\`\`\``;
    const pieces = chunks(`# Top\n\n${code}`);
    expect(pieces.length).toBeGreaterThan(1);
    expect(
      pieces.every(
        ([headings, text]) =>
          headings === 'Top' &&
          (text as string).split('\n').every((line) => /^(# comment line of shell|```(sh)?)$/.test(line)),
      ),
    ).toBe(true);
  });
});

it('cuts plain text at paragraphs, and knows no headings', () =>
  expect(chunks(`# not a heading\n\n${'word '.repeat(99)}`, 'plain')).toEqual([
    ['', '# not a heading'],
    ['', 'word '.repeat(99).trim()],
  ]));

it('never cross a place of the file', () => {
  const text = 'One.\n\nTwo.\n\nThree.\n\nFour.';
  const places = [{ page: 1 }, { page: 1 }, { page: 2 }, undefined];
  const blocks = plainBlocks(text).map((block, index) => {
    const place = places[index];
    return place === undefined ? block : { ...block, place };
  });
  for (const chunking of [null, { maxTokens: 100, overlapTokens: 50 }])
    expect(
      chunksOf({ text, blocks }, chunkLimits(text, chunking)).map(({ start, end, place }) => [
        text.slice(start, end),
        place,
      ]),
    ).toEqual([
      ['One.\n\nTwo.', { page: 1 }],
      ['Three.', { page: 2 }],
      ['Four.', undefined],
    ]);
});

const complete = (text: string, kind: Kind): void => {
  let last = 0;
  for (const { start, end } of cut(text, kind)) {
    expect(start).toBeGreaterThanOrEqual(last);
    expect(words(text.slice(start, end))).toBeLessThanOrEqual(MAX_WORDS);
    expect(end - start).toBeLessThanOrEqual(1_500);
    if (kind === 'plain') expect(text.slice(last, start).trim()).toBe('');
    last = end;
  }
  if (kind === 'plain') expect(text.slice(last).trim()).toBe('');
};

it('covers any text, in order, without overlap, in chunks of at most 100 words', () => {
  const piece = fc.constantFrom(
    'a',
    'word ',
    '. ',
    '.',
    '\n',
    '\n\n',
    '# ',
    '- ',
    '| x |\n',
    '```\n',
    '---\n',
    'x'.repeat(2_000),
    'word '.repeat(120),
    '> ',
    '1. ',
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 30 }),
      fc.constantFrom('markdown' as const, 'plain' as const),
      (pieces, kind) => complete(pieces.join(''), kind),
    ),
  );
});

it("covers the project's own documents", () => {
  const folder = join(__dirname, '../../../../docs/decisions');
  for (const file of readdirSync(folder)) complete(readFileSync(join(folder, file), 'utf8'), 'markdown');
});

it.each([
  ['link openings in a heading', `# ${'[a]('.repeat(50_000)}`],
  ['a heading of spaces', `# ${' '.repeat(300_000)}x`],
  ['dashes', `${'-'.repeat(300_000)}x`],
  ['abbreviations', 'A. '.repeat(100_000)],
  ['open fences', '```a\n'.repeat(100_000)],
  ['one word', 'x'.repeat(1_000_000)],
  ['empty lines', ' \n'.repeat(200_000)],
  ['a line of spaces in code', `\`\`\`\n${' '.repeat(400_000)}`],
  ['line ends of old in code', `\`\`\`\n${'\r'.repeat(400_000)}`],
  ['more sentences in a paragraph than a call takes arguments', 'It is so. '.repeat(150_000)],
])('takes time in proportion to hostile text: %s', (_, text) => {
  const spent = processorTime();
  cut(text, 'markdown');
  expect(spent()).toBeLessThan(5_000);
});
