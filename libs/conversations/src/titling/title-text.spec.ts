import { MAX_MODEL_TITLE, titleFrom } from './title-text';

describe('a title from a model', () => {
  it.each([
    ['Ferries to Sylt', 'Ferries to Sylt'],
    ['"Ferries to Sylt."', 'Ferries to Sylt'],
    ['„Fähren nach Sylt“\n', 'Fähren nach Sylt'],
    ['Title: **Ferries** to `Sylt`', 'Ferries to Sylt'],
    ['# Titel: Fähren', 'Fähren'],
    ['<think>They want a ferry.\nSo:</think>\n\nFerries to Sylt', 'Ferries to Sylt'],
    ['Ferries [to Sylt](https://evil.example/?q=1)', 'Ferries to Sylt'],
    ['Ferries ![x](https://evil.example/x.png) to Sylt', 'Ferries to Sylt'],
    ['Ferries https://evil.example/a to www.evil.example Sylt', 'Ferries to Sylt'],
    ['<img src=x onerror=alert(1)>Ferries<script>alert(1)</script>', 'Ferries alert(1)'],
    ['<b onclick="x">Ferries</b> javascript:alert(1)', 'Ferries'],
    ['Ferries\u202e\u200b to\u0000 \u0007Sylt', 'Ferries to Sylt'],
    ['snake_case and C++ 3 vs. 4', 'snake_case and C++ 3 vs. 4'],
    ['事件日志', '事件日志'],
  ])('of the answer %j is %j', (answer, title) => expect(titleFrom(answer)).toBe(title));

  it.each(['', '   \n', '***', '👍', '![](https://evil.example)', '<think>for ever', `${'word '.repeat(41)}`])(
    '%j is none',
    (answer) => expect(titleFrom(answer)).toBeUndefined(),
  );

  it('is cut to its length between words, and between characters', () => {
    const cut = titleFrom('Ferries and trains to all of the islands in the North Sea and beyond, in winter');
    expect(cut).toBe('Ferries and trains to all of the islands in the North Sea…');
    for (const long of ['x'.repeat(100), '𝒳'.repeat(50)]) {
      const title = titleFrom(long) ?? '';
      expect([title.length <= MAX_MODEL_TITLE, title.isWellFormed(), title.endsWith('…')]).toEqual([true, true, true]);
    }
  });
});
