import fc from 'fast-check';
import { anyCharacter } from '../../../test/fixtures/any-character';
import { GatheredText } from './gathered-text';

describe('a text that comes in pieces', () => {
  it('is what was added, and any part of it, however long it and its pieces are', () =>
    fc.assert(
      fc.property(
        fc.string(),
        fc.constantFrom(0, 10, 1_024),
        fc.array(fc.string({ unit: anyCharacter, maxLength: 1_500 }), { size: 'large', maxLength: 40 }),
        fc.nat(),
        fc.nat(),
        (start, kept, pieces, one, other) => {
          const text = new GatheredText(start, kept);
          let whole = start;
          for (const piece of pieces) {
            text.add(piece);
            whole += piece;
            const [from = 0, to = 0] = [one, other].map((at) => at % (whole.length + 1)).toSorted((a, b) => a - b);
            expect(text.slice(from, to)).toBe(whole.slice(from, to));
            expect(text.slice(whole.length - piece.length, whole.length)).toBe(piece);
          }
          expect([text.text, text.length]).toEqual([whole, whole.length]);
        },
      ),
    ));

  it('takes a part of a long end', () => {
    const text = new GatheredText();
    for (let piece = 0; piece < 10_000; piece += 1) text.add(`${piece % 10}`);
    expect(text.slice(9_995, 10_000)).toBe('56789');
    expect(text.slice(5, 7)).toBe('56');
    expect(text.text).toBe('0123456789'.repeat(1_000));
  });
});
