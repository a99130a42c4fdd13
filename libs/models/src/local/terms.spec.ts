import fc from 'fast-check';
import { slicesOf } from './text-slices';
import { termsIn, termsOf } from './terms';

const sliced = (text: string, size: number): string[] => [...termsIn(text, Infinity, size)].flat();
const whole = (text: string): string[] => sliced(text, Infinity);

describe('the terms of a text', () => {
  it('are stems of the words that carry meaning, in order, also those in names', () => {
    expect(termsOf('What are the keys of topK and encryptedFiles? Ｋeys, 2 keys!')).toEqual([
      'kei',
      'top',
      'k',
      'encrypt',
      'file',
      'kei',
      '2',
      'kei',
    ]);
  });

  it.each(['key keys', 'day days', 'query queries', 'encrypt encrypted', 'house houses', 'possible possibly'])(
    'are the same for the forms of a word, short ones too: %s',
    (forms) => expect(new Set(termsOf(forms)).size).toBe(1),
  );

  it('are pairs of letters in scripts without spaces, beside the words of others', () => {
    expect(termsOf('请使用API接口v2。 サーバー, 한국어는 집 日')).toEqual([
      '请使',
      '使用',
      'api',
      '接口',
      'v2',
      'サー',
      'ーバ',
      'バー',
      '한국',
      '국어',
      '어는',
      '집',
      '日',
    ]);
  });

  it('are none of an empty text', () => {
    expect(termsOf('')).toEqual([]);
  });

  it('are the same in slices, wherever words end', () => {
    const unit = fc.constantFrom(
      'a',
      'é',
      'B',
      'BΣ',
      'Σ',
      'ΑΣ',
      'σ',
      '7',
      '.',
      "'",
      'e\u0301\u0316',
      '\u0345',
      'ﬁ',
      'Ⅷ',
      '日',
      'か\u3099',
      'ｶﾞ',
      '한',
      '\u1100\u1161',
      'ㄱㅏ',
      'ไทย',
      '🙂',
      'İ',
      'ǅ',
      '𝚺',
      'keys',
      'the',
    );
    const word = fc.string({ unit, maxLength: 4 });
    const text = fc.array(fc.tuple(word, fc.constantFrom(' ', '\n', ', ', '-', '\u00a0', '\u3002', '_', '(')), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(text, fc.integer({ min: 40, max: 80 }), (words, size) =>
        expect(sliced(words.flat().join(''), size)).toEqual(whole(words.flat().join(''))),
      ),
      { numRuns: 500 },
    );
  });

  it.each([
    'x',
    'X',
    '7',
    'x7',
    'keys',
    'й',
    '日本語',
    'ひらがな',
    '한국어',
    'ไทย',
    '日x',
    'x日本',
    'Привет',
    'xX',
    'ab\u0301',
    '👍🏽',
    'Б',
  ])('are the same where %j goes on without an end', (piece) => {
    for (const size of [8, 9, 10, 11, 64])
      for (const text of [piece.repeat(50), `keys ${piece.repeat(50)} keys`, `${piece.repeat(7)}keys`])
        expect([size, sliced(text, size)]).toEqual([size, whole(text)]);
  });
});

describe('the terms of words up to a length', () => {
  it('are all but those of longer words, however long these are', () => {
    const text = `keys ${'x'.repeat(50)} vault ${'z'.repeat(12)} log`;
    for (const size of [8, 11, Infinity])
      expect([...termsIn(text, 12, size)].flat()).toEqual(['kei', 'vault', 'z'.repeat(12), 'log']);
  });

  it('are all pairs of letters, however long their sentence, and those behind a longer word', () => {
    const text = `${'x'.repeat(50)}日本${'字'.repeat(30)}`;
    for (const size of [8, 11, Infinity])
      expect([...termsIn(text, 12, size)].flat()).toEqual([
        '日本',
        '本字',
        ...Array.from({ length: 29 }, () => '字字'),
      ]);
  });
});

describe('the slices of a text', () => {
  it('are the text, none of them long, and break no character', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', ' ', '.', '🙂', '\u0301', '日'), maxLength: 100 }),
        fc.integer({ min: 4, max: 12 }),
        (text, size) => {
          const slices = [...slicesOf(text, size)];
          expect(slices.join('')).toBe(text);
          for (const slice of slices) expect([slice.length <= size, slice.isWellFormed()]).toEqual([true, true]);
        },
      ),
    );
  });
});
