import { encode } from 'gpt-tokenizer/encoding/cl100k_base';
import fc from 'fast-check';
import { type Chunking, countTokens, TokenCount } from '@app/kernel';
import { processorTime } from '../../../../test/fixtures/processor-time';
import { markdownBlocks, plainBlocks } from '@app/extraction';
import { chunksOf } from './chunk';
import { chunkLimits } from './chunk-limits';

const tokens = (text: string): number => encode(text, { disallowedSpecial: new Set() }).length;
const cut = (text: string, chunking: Chunking, kind: 'markdown' | 'plain' = 'plain') =>
  chunksOf(
    { text, blocks: kind === 'markdown' ? markdownBlocks(text) : plainBlocks(text) },
    chunkLimits(text, chunking),
  );
const texts = (text: string, chunking: Chunking, kind?: 'markdown' | 'plain') =>
  cut(text, chunking, kind).map(({ start, end }) => text.slice(start, end));
const sentences = (count: number): string =>
  Array.from({ length: count }, (_, index) => `Sentence number ${index} says a little about backups.`).join(' ');

/** Cuts within long words of a text that are in a part of it: behind each, byte pair encoding may find one token fewer than without it. */
const cutsIn = (text: string, start = 0, end = text.length): number =>
  [...text.matchAll(/\s{0,64}\S{1,64}|\s{1,64}/g)].filter(
    ({ index }) => index > start && index < end && /^(?:\S\S|\s\s)$/.test(text.slice(index - 1, index + 1)),
  ).length;
const FAMILY = '👩‍👩‍👧‍👦';
/** A text whose chunk of 57 tokens has 58 for the tokenizer. */
const OVERFULL = `a漢字仮名交じり文。${FAMILY}${'x1y2'.repeat(100)}<|endoftext|>Donaudampfschifffahrtsgesellschaft ${FAMILY}`;
/** A text whose tokens are fewer with its cuts. */
const FEWER = `${FAMILY}a${FAMILY}<|endoftext|>${FAMILY}${'x1y2'.repeat(100)}${FAMILY}`;

const anyText = fc
  .array(
    fc.constantFrom(
      'a',
      'word ',
      'Donaudampfschifffahrtsgesellschaft ',
      'über ',
      '. ',
      '.',
      '\n',
      '\n\n',
      '# ',
      '| x |\n',
      '漢字仮名交じり文。',
      '👩‍👩‍👧‍👦',
      '<|endoftext|>',
      'x1y2'.repeat(100),
      ' '.repeat(300),
      'word '.repeat(120),
    ),
    { maxLength: 30 },
  )
  .map((pieces) => pieces.join(''));

describe('tokens of a text', () => {
  it('are those of the tokenizer', () => {
    const text = sentences(20);
    expect([countTokens(text), new TokenCount(text).total]).toEqual([tokens(text), tokens(text)]);
  });

  it('are counted for the whole of it, and none too few but for cuts in long words, nor more than word by word', () =>
    fc.assert(
      fc.property(anyText, (text) => {
        expect(countTokens(text)).toBeGreaterThanOrEqual(tokens(text) - cutsIn(text));
        expect(countTokens(text)).toBeLessThanOrEqual(new TokenCount(text).total);
      }),
      { examples: [[FEWER]] },
    ));

  it('are counted for any part of it, and none too few but for cuts in long words', () =>
    fc.assert(
      fc.property(anyText, fc.nat(), fc.nat(), (text, one, other) => {
        fc.pre(text.length > 0);
        const [start = 0, end = 0] = [one % text.length, other % text.length].toSorted((a, b) => a - b);
        const part = text.slice(start, end + 1);
        if (part.isWellFormed())
          expect(new TokenCount(text).between(start, end + 1)).toBeGreaterThanOrEqual(
            tokens(part) - cutsIn(text, start, end + 1),
          );
      }),
      { examples: [[FEWER, 0, FEWER.length - 1]] },
    ));

  it.each([
    ['one word', 'x'.repeat(1_000_000)],
    ['Japanese without spaces', '漢字仮名'.repeat(100_000)],
    ['white space', ' '.repeat(1_000_000)],
    ['line ends', '\n'.repeat(1_000_000)],
    ['words as long as they may be', `${'漢'.repeat(64)} `.repeat(15_000)],
    ['signs and line ends', `${'!'.repeat(64)}${'\n'.repeat(64)}`.repeat(8_000)],
  ])('take time in proportion to hostile text: %s', (_, text) => {
    const spent = processorTime();
    new TokenCount(text);
    countTokens(text);
    expect(spent()).toBeLessThan(5_000);
  });
});

describe('chunks by tokens', () => {
  it('are as large as they may be', () => {
    const chunks = texts(sentences(100), { maxTokens: 100, overlapTokens: 0 });
    for (const chunk of chunks.slice(0, -1)) {
      expect(tokens(chunk)).toBeGreaterThan(80);
      expect(tokens(chunk)).toBeLessThanOrEqual(100);
      expect(chunk).toMatch(/^Sentence .*backups\.$/);
    }
  });

  it('repeat the last whole sentences of the one before', () => {
    const text = sentences(100);
    const chunks = cut(text, { maxTokens: 100, overlapTokens: 30 });
    expect(chunks.length).toBeGreaterThan(5);
    for (const [index, { start }] of chunks.entries()) {
      const before = chunks[index - 1];
      if (before === undefined) continue;
      const repeated = text.slice(start, before.end);
      expect(repeated).toMatch(/^Sentence .*backups\.$/);
      expect(tokens(repeated)).toBeLessThanOrEqual(30);
      expect(tokens(repeated)).toBeGreaterThan(15);
    }
  });

  it('repeat whole lines of code, and words where a sentence is too long', () => {
    const code = `\`\`\`\n${Array.from({ length: 60 }, (_, index) => `const value${index} = ${index};`).join('\n')}\n\`\`\``;
    for (const chunk of texts(code, { maxTokens: 60, overlapTokens: 20 }, 'markdown').slice(1))
      expect(chunk).toMatch(/^const value/);
    const words = cut('word '.repeat(500).trim(), { maxTokens: 50, overlapTokens: 10 });
    expect(words.slice(1).every(({ start }, index) => start < (words[index]?.end ?? 0))).toBe(true);
  });

  it('never cross a heading, nor repeat what stands before it', () => {
    const chunks = texts(
      `# One\n\n${sentences(3)}\n\n# Two\n\nEnd.`,
      { maxTokens: 1_000, overlapTokens: 500 },
      'markdown',
    );
    expect(chunks).toEqual([sentences(3), 'End.']);
  });

  it('hold all of any text, within the limits but for cuts in long words, and each goes on', () =>
    fc.assert(
      fc.property(
        anyText,
        fc.integer({ min: 50, max: 200 }),
        fc.integer({ min: 0, max: 25 }),
        (text, maxTokens, overlapTokens) => {
          const chunks = cut(text, { maxTokens, overlapTokens });
          /** No more than these, but for cuts in long words. */
          const expectAtMost = (most: number, start: number, end: number): void => {
            const part = text.slice(start, end);
            if (part.isWellFormed()) expect(tokens(part)).toBeLessThanOrEqual(most + cutsIn(text, start, end));
          };
          let last = { start: -1, end: 0 };
          for (const { start, end } of chunks) {
            expectAtMost(maxTokens, start, end);
            expect(start).toBeGreaterThan(last.start);
            expect(end).toBeGreaterThan(last.end);
            expect(text.slice(last.end, Math.max(start, last.end)).trim()).toBe('');
            if (start < last.end) expectAtMost(overlapTokens, start, last.end);
            last = { start, end };
          }
          expect(text.slice(last.end).trim()).toBe('');
        },
      ),
      { numRuns: 300, examples: [[OVERFULL, 57, 0]] },
    ));
});
