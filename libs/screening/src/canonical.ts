/** What a text is screened for: a memory, text from documents, pages and tools, or a file of a Skill. */
export type ScreeningPurpose = 'memory' | 'text' | 'skill';

/**
 * Zero-width, bidirectional, tag and other characters that nobody sees, fillers, and controls but for white space. Variation
 * selectors count: texts are smuggled in them.
 */
const UNSEEN =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class
  /[\u0000-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;
/** NFKC would make 10½ 101⁄2 and m² m2: superscripts and fractions stay. */
const COMPATIBLE = /[^\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u209c\u2150-\u215f\u2189]+/gu;

/**
 * The canonical form of a text: what is screened, and what is stored. NFKC but for superscripts and fractions, without characters
 * that nobody sees, white space folded; of a memory it is one line. Canonical text is its own canonical form.
 */
export const canonicalText = (text: string, purpose: ScreeningPurpose): string => {
  const seen = text
    .toWellFormed()
    .replace(UNSEEN, '')
    .replace(COMPATIBLE, (run) => run.normalize('NFKC'))
    .replace(UNSEEN, '')
    .normalize('NFC');
  if (purpose === 'memory') return seen.replace(/\s+/gu, ' ').trim();
  return seen
    .replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n')
    .replace(/[^\S\n]+/gu, ' ')
    .trim();
};

/** Letters of other scripts that look like Latin ones, in lower case. */
const LOOK_ALIKES: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ['a', 'аαɑᴀ'],
    ['b', 'ьƅʙ'],
    ['c', 'сϲᴄ'],
    ['d', 'ԁɗᴅ'],
    ['e', 'еєҽᴇ'],
    ['f', 'ғƒꜰ'],
    ['g', 'ɡցɢ'],
    ['h', 'һհʜ'],
    ['i', 'іιıɪӏ'],
    ['j', 'јϳᴊ'],
    ['k', 'кκᴋ'],
    ['l', 'ⅼʟ'],
    ['m', 'мᴍ'],
    ['n', 'ոпηɴ'],
    ['o', 'оοօσᴏ'],
    ['p', 'рρᴘ'],
    ['q', 'ԛգ'],
    ['r', 'гʀ'],
    ['s', 'ѕꜱ'],
    ['t', 'тτᴛ'],
    ['u', 'υսᴜ'],
    ['v', 'νѵᴠ'],
    ['w', 'ԝωᴡ'],
    ['x', 'хχ'],
    ['y', 'уүγʏ'],
    ['z', 'ᴢ'],
    ['ae', 'äӓæ'],
    ['oe', 'öӧœø'],
    ['ue', 'ü'],
    ['ss', 'ß'],
    ['"', '„“”«»‟″'],
    ["'", '‘’‚‛`´'],
    ['-', '‐‑‒–—―−'],
    ['0', '⁰₀'],
    ['1', '¹₁'],
    ['2', '²₂'],
    ['3', '³₃'],
  ].flatMap(([to = '', from = '']) => [...from].map((letter) => [letter, to])),
);
const FOLDED = new RegExp(`[${Object.keys(LOOK_ALIKES).join('')}]`, 'gu');
const LATIN_CAPITALS: Readonly<Record<string, string>> = {
  В: 'b',
  Н: 'h',
  Β: 'b',
  Η: 'h',
  Ζ: 'z',
  Μ: 'm',
  Ν: 'n',
  Ρ: 'p',
  Υ: 'y',
  Ι: 'i',
};
const CAPITALS = new RegExp(`[${Object.keys(LATIN_CAPITALS).join('')}]`, 'gu');

/** White letters on black discs and squares, which NFKC leaves alone; regional letters, of which more than two flags' worth spell words. */
const FRAMED = /[\u{1f150}-\u{1f169}\u{1f170}-\u{1f189}]|[\u{1f1e6}-\u{1f1ff}]{5,}/gu;
const FRAMES = [0x1f150, 0x1f170, 0x1f1e6] as const;
const unframed = (run: string): string =>
  Array.from(run, (letter) => {
    const point = letter.codePointAt(0) ?? 0;
    const first = FRAMES.find((from) => point >= from && point < from + 26) ?? point;
    return String.fromCharCode(97 + point - first);
  }).join('');

/** The form that rules and model read: lower case without accents, look-alike letters as Latin ones, umlauts as ae, oe, ue, ss. */
export const folded = (canonical: string): string =>
  canonical
    .replace(FRAMED, unframed)
    .replace(CAPITALS, (letter) => LATIN_CAPITALS[letter] ?? letter)
    .toLowerCase()
    .replace(FOLDED, (letter) => LOOK_ALIKES[letter] ?? letter)
    .normalize('NFD')
    .replace(/\p{M}+/gu, '');

/** What a digit of any script counts: as many as stand before it in its row. */
const countOf = (digit: string): number => {
  const point = digit.codePointAt(0) ?? 0;
  let count = 0;
  while (count < 9 && /\p{Nd}/u.test(String.fromCodePoint(point - count - 1))) count++;
  return count;
};

/** A text with Latin letters for those that look like them, in their case and without accents, digits of any script as 0 to 9, and one kind of hyphens. */
export const unmasked = (canonical: string): string =>
  canonical
    .replace(FRAMED, unframed)
    .replace(CAPITALS, (letter) => (LATIN_CAPITALS[letter] ?? letter).toUpperCase())
    .normalize('NFD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^\P{L}a-z]/giu, (letter) => {
      const lower = letter.toLowerCase();
      const latin = LOOK_ALIKES[lower] ?? letter;
      return lower === letter ? latin : latin.toUpperCase();
    })
    .replace(/[^\P{Nd}0-9]/gu, (digit) => String(countOf(digit)))
    .replace(/\p{Pd}/gu, '-');

/** Texts that are hidden in characters that nobody sees: tag characters and the second block of variation selectors. */
export const hiddenText = (text: string): string | undefined => {
  let hidden = '';
  // oxlint-disable-next-line no-misleading-character-class
  for (const letter of text.match(/[\u{e0020}-\u{e007e}\u{e0100}-\u{e01ef}]/gu) ?? []) {
    const point = letter.codePointAt(0) ?? 0;
    hidden += String.fromCharCode(point < 0xe0100 ? point - 0xe0000 : point - 0xe0100 + 16);
  }
  // A flag of a country's part has at most six.
  return hidden.length > 6 ? hidden : undefined;
};

/** Whether letters are reordered to the eye. */
export const isReordered = (text: string): boolean => /[\u202d\u202e]/.test(text);
