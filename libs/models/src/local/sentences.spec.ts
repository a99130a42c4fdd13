import fc from 'fast-check';
import { sentencesOf } from './sentences';

const texts = (text: string): string[] => sentencesOf(text).map(({ start, end }) => text.slice(start, end));

describe('sentencesOf', () => {
  it('ends sentences where they end, not at abbreviations or inside names', () => {
    expect(texts('Use a store, e.g. SQLite. See package.json for v1.5.0! Is Dr. Who there?')).toEqual([
      'Use a store, e.g. SQLite.',
      'See package.json for v1.5.0!',
      'Is Dr. Who there?',
    ]);
  });

  it('ends sentences of scripts without spaces where they end', () => {
    expect(texts('备份每天一次。“为什么？” 用户登录！「終わり。」次の文。')).toEqual([
      '备份每天一次。',
      '“为什么？”',
      '用户登录！',
      '「終わり。」',
      '次の文。',
    ]);
  });

  it('takes list items and table rows apart, and leaves out headings, rules and fences', () => {
    expect(
      texts(
        '# Title\n\n- one thing\n- another\n  goes on\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode()\n```\n---\nEnd',
      ),
    ).toEqual(['one thing', 'another\n  goes on', '| a | b |', '| 1 | 2 |', 'code()', 'End']);
  });

  it('cuts what has no end at white space', () => {
    const pieces = texts('word '.repeat(300));
    expect(pieces.every((piece) => piece.length <= 400 && !piece.startsWith(' '))).toBe(true);
    expect(pieces.join(' ')).toBe('word '.repeat(300).trim());
  });

  it('is in order, without overlap, inside the text, for any text', () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.constantFrom('a', 'Be', '. ', '.', '\n', '- ', '#', '|', '---', '`', ' ', '!', '\n\n'),
          maxLength: 200,
        }),
        (text) => {
          let last = 0;
          for (const { start, end } of sentencesOf(text)) {
            expect(start).toBeGreaterThanOrEqual(last);
            expect(end).toBeGreaterThan(start);
            expect(text.slice(start, end)).toBe(text.slice(start, end).trim());
            last = end;
          }
          expect(last).toBeLessThanOrEqual(text.length);
        },
      ),
    );
  });
});

it('a sentence without an end is cut between letters', () => {
  const text = `a${'\u{1f600}'.repeat(1_000)}`;
  const pieces = sentencesOf(text).map(({ start, end }) => text.slice(start, end));
  expect(pieces.length).toBeGreaterThan(4);
  expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
  expect(pieces.join('')).toBe(text);
});
