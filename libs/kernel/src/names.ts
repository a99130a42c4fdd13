/** Control, bidirectional-override and tag characters: rejected in names and titles (wire, Everywhere). */
const UNSAFE_IN_NAMES = /[\p{Cc}\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c\u{e0000}-\u{e007f}]/u;
/** Zero-width characters, soft hyphens, variation selectors, fillers of Hangul. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/** True when text holds NUL or a lone surrogate: rejected anywhere, since such text does not survive UTF-8. */
export const isUnstorableText = (text: string): boolean => text.includes('\0') || !text.isWellFormed();

/** True when text has no characters that deceive the eye. */
export const isSafeInNames = (text: string): boolean => !UNSAFE_IN_NAMES.test(text) && text.isWellFormed();

/** The form in which names are compared: NFKC, case-folded, what nobody sees removed, white space folded. */
export const normalisedName = (name: string): string =>
  name.normalize('NFKC').replace(INVISIBLE, '').toLowerCase().toUpperCase().toLowerCase().replace(/\s+/gu, ' ').trim();

/**
 * True if a text has at most this many characters, counted as in schemas: a character with two UTF-16 units counts as
 * one.
 */
export const hasAtMost = (characters: number, text: string): boolean =>
  text.length <= characters || (text.length <= 2 * characters && [...text].length <= characters);

/** True when trimmed text is a name of `max` characters at most, as `nameSchema` has it. */
export const isName = (text: string, max: number): boolean =>
  text.length > 0 && hasAtMost(max, text) && isSafeInNames(text) && normalisedName(text) !== '';
