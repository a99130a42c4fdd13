import fc from 'fast-check';
import { countTokens } from '@app/kernel';
import type { MessagePart } from '../conversation/message-parts';
import { isOver, NO_CONTEXT } from './branch-context';
import { boundaryFor, piecesOf, transcriptOf } from './compaction';
import { SaidMessage } from './said-message';

const said = (number: number, ...texts: readonly string[]): SaidMessage =>
  new SaidMessage(
    `m${number}`,
    number % 2 === 0 ? 'user' : 'assistant',
    texts.map((text) => ({ type: 'text', text })),
  );
const words = (count: number): string => 'word '.repeat(count).trim();
const textIn = ({ parts }: SaidMessage): string =>
  parts.map((part: MessagePart) => (part.type === 'text' ? part.text : '')).join('|');

describe('a boundary', () => {
  it('leaves whole messages where they fit', async () => {
    const newestFirst = [said(4, words(10)), said(3, words(10)), said(2, words(100)), said(1, words(10))];
    expect(await boundaryFor(newestFirst, 60)).toEqual({ messageId: 'm3', part: 0, offset: 0 });
    expect(await boundaryFor(newestFirst, 1_000)).toBeUndefined();
  });

  it('never cuts the newest message, however long', async () => {
    const newestFirst = [said(2, words(5_000)), said(1, words(10))];
    expect(await boundaryFor(newestFirst, 100)).toEqual({ messageId: 'm2', part: 0, offset: 0 });
    expect(await boundaryFor(newestFirst.slice(0, 1), 100)).toBeUndefined();
  });

  it('falls inside a long message, at the end of a paragraph, a sentence or a word', async () => {
    const paragraphs = Array.from({ length: 40 }, (_, index) => `Paragraph ${index}. ${words(20)}.`);
    const message = said(1, paragraphs.join('\n\n'));
    const boundary = await boundaryFor([said(2, 'And?'), message], 200);
    expect(boundary).toMatchObject({ messageId: 'm1', part: 0 });
    const kept = textIn(message.after(boundary ?? { part: 0, offset: 0 }));
    expect(kept).toMatch(/^Paragraph \d+\./);
    expect(textIn(message.before(boundary ?? { part: 0, offset: 0 })) + kept).toBe(textIn(message));
    const one = said(1, words(2_000));
    const inside = await boundaryFor([said(2, 'And?'), one], 200);
    expect(textIn(one.after(inside ?? { part: 0, offset: 0 }))).toMatch(/^word word/);
  });

  it('comes between parts', async () => {
    const message = said(1, words(500), words(20), words(20));
    expect(await boundaryFor([said(2, 'And?'), message], 70)).toEqual({ messageId: 'm1', part: 1, offset: 0 });
  });

  it('keeps at most what it may, loses nothing, and splits no character', async () => {
    const text = fc.string({
      unit: fc.constantFrom('word ', '. ', '😀', 'ß', '\n\n', 'Straße ', '日本'),
      maxLength: 400,
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(text, { minLength: 1, maxLength: 3 }), { minLength: 2, maxLength: 5 }),
        async (all) => {
          const newestFirst = all.map((texts, index) => said(index, ...texts));
          const boundary = await boundaryFor(newestFirst, 150);
          if (boundary === undefined) return;
          const at = newestFirst.findIndex(({ messageId }) => messageId === boundary.messageId);
          const cut = newestFirst[at] as SaidMessage;
          const kept = [...newestFirst.slice(0, at), cut.after(boundary)];
          expect(
            textIn(cut.before(boundary)).replaceAll('|', '') + textIn(cut.after(boundary)).replaceAll('|', ''),
          ).toBe(textIn(cut).replaceAll('|', ''));
          expect(textIn(cut.after(boundary)).isWellFormed()).toBe(true);
          const [newest, ...rest] = kept;
          const tokens = rest.reduce((sum, message) => sum + countTokens(textIn(message)), 0);
          expect(tokens === 0 || tokens + (await (newest as SaidMessage).tokens()) <= 160).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('a transcript', () => {
  it('says who said what', () =>
    expect(transcriptOf([said(0, 'Why?'), said(1, 'Because.', 'So.')])).toEqual([
      'User: Why?',
      'Assistant: Because.\n\nSo.',
    ]));

  it('comes in pieces, of which none is longer than it may be', () => {
    expect(piecesOf(['a', 'b', 'c'], 5)).toEqual(['a\n\nb', 'c']);
    expect(piecesOf(['abcdefgh', 'i'], 5)).toEqual(['abcde', 'fgh', 'i']);
    expect(piecesOf([], 5)).toEqual([]);
  });
});

describe('whether a context is over its budget', () => {
  const newestFirst = Array.from({ length: 10 }, (_, index) => said(10 - index, words(100)));
  const context = { ...NO_CONTEXT, newestFirst };
  const tokens = 10 * (4 + 100);

  it('goes by its tokens', async () => {
    expect(await isOver(context, tokens)).toBe(false);
    expect(await isOver(context, tokens - 1)).toBe(true);
    const summary = { checkpointId: 'c', text: 'x'.repeat(40) };
    expect(await isOver({ ...context, summary }, tokens + 10)).toBe(false);
    expect(await isOver({ ...context, summary }, tokens + 9)).toBe(true);
  });

  it.each([
    ['over', 250],
    ['within', 4_000],
  ])('counts no more once it is certainly %s', async (_, budget) => {
    const counted = newestFirst.map((message) => jest.spyOn(message, 'tokens').mockClear());
    await isOver(context, budget);
    const asked = counted.filter(({ mock }) => mock.calls.length > 0).length;
    expect(asked).toBeGreaterThan(0);
    expect(asked).toBeLessThan(5);
  });
});
