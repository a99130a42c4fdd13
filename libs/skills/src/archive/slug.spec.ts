import fc from 'fast-check';
import { slugOf } from './slug';

describe('slugOf', () => {
  it.each([
    ['Invoice check', 'invoice-check'],
    ['  --Invoice   check!! v2 -- ', 'invoice-check-v2'],
    ["Anna's list", 'annas-list'],
    ['Größe & Küche', 'größe-küche'],
    ['ＰＤＦ ①', 'pdf-1'],
    ['in\u200bvoice', 'invoice'],
    ['Проверка счёта', 'проверка-счёта'],
    ['請求書のチェック', '請求書のチェック'],
    ['データー', 'データー'],
    ['송장 檢査', '송장-檢査'],
    ['송\u3164장', '송장'],
    ['İstanbul', 'istanbul'],
    ['٣ فواتير', '٣-فواتير'],
    ['2026', '2026'],
    ['CON', 'con-skill'],
    ['Com1', 'com1-skill'],
    ['a'.repeat(63) + ' b', 'a'.repeat(63)],
    ['ﷺ'.repeat(10), expect.stringMatching(/^.{1,64}$/u)],
  ])('makes of %j %j', (name, slug) => expect(slugOf(name)).toEqual(slug));

  it.each(['p\u0430ypal', 'Α bc', 'データ data', '---', '🦀', '', '\u200b', '\u3164', 'ᏣᎳᎩ'])(
    'makes none of %j',
    (name) => expect(slugOf(name)).toBeUndefined(),
  );

  it('makes a name of the format of any name, and of that the same', () =>
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 64 }), (name) => {
        const slug = slugOf(name);
        if (slug === undefined) return;
        expect(slug).toMatch(/^[\p{L}\p{Nd}]+(?:-[\p{L}\p{Nd}]+)*$/u);
        expect(slug).toBe(slug.normalize('NFKC').toLowerCase());
        expect([...slug].length).toBeLessThanOrEqual(64);
        expect(slugOf(slug)).toBe(slug);
      }),
      { numRuns: 2_000 },
    ));
});
