import fc from 'fast-check';
import { anyCharacter } from '../../../../test/fixtures/any-character';
import { goesOn, grown, textBehind } from './growing-words';
import type { ReasoningPart, TextPart } from './message-parts';

const text = (said: string): TextPart => ({ type: 'text', text: said });

describe('words that grow', () => {
  it('say what was said, whatever was taken back between, and however long they are', () =>
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(), fc.string({ unit: anyCharacter, maxLength: 900 })), {
          minLength: 1,
          maxLength: 12,
        }),
        fc.nat(),
        (steps, at) => {
          const all: (TextPart | ReasoningPart)[] = [text('')];
          const said = [''];
          for (const [from, more] of steps) {
            // Most go on where the last one ended, some where another did.
            const index = from % 4 === 0 ? from % all.length : all.length - 1;
            all.push(grown(all[index] as TextPart, more));
            said.push(`${said[index]}${more}`);
          }
          expect(all).toEqual(said.map(text));
          for (const [index, words] of all.entries()) {
            const offset = at % (words.text.length + 1);
            expect(textBehind(words, offset)).toBe(said[index]?.slice(offset));
            for (const [other, before] of all.entries())
              expect(goesOn(before, words)).toBe((said[index] as string).startsWith(said[other] as string));
          }
        },
      ),
    ));

  it('are compared where they did not grow, and never go on as another kind', () => {
    expect(goesOn(text('Half'), text('Half an answer'))).toBe(true);
    expect(goesOn(text('Half'), { type: 'reasoning', text: 'Half an answer' })).toBe(false);
    expect(textBehind(text('Half an answer'), 8)).toBe('answer');
  });
});
