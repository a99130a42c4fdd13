import { MAYBE_UNSPACED, UNSPACED_LETTERS } from '@app/kernel/threads';

/** Letters and digits of scripts that put spaces between words; of the others there are pairs of letters, which nothing joins. */
const PART = String.raw`(?:(?![${UNSPACED_LETTERS}])[\p{L}\p{N}\p{M}])+`;
const SPACED_PART = String.raw`[\p{L}\p{N}\p{M}]+`;
/** Hyphens, dots and low lines: what is left out where a code is written in one. */
const SIGN = String.raw`[-\u2010-\u2015\u2212._]`;
/** Single words, too: a pattern that fails at the end of a long word tries again at each of its letters. */
const WORDS = new RegExp(`${SPACED_PART}(?:${SIGN}${SPACED_PART})*`, 'gu');
const WORDS_BESIDE_UNSPACED = new RegExp(`${PART}(?:${SIGN}${PART})*`, 'gu');
const SIGNS = new RegExp(SIGN, 'gu');
const OTHER_SIGN = new RegExp(SIGN.replace('.', ''), 'u');
/** Signs of names, such as `node.js`. A hyphen joins plain words, too. */
const OF_NAMES = /[._]/;
/** Longer ones are paths and hashes, and numbers of fewer digits are versions and amounts. */
const LONGEST = 64;
const FEWEST_DIGITS = 5;

/**
 * The codes of a text, written in one: `INV2024001` for INV-2024-001, `nodejs` for node.js. The index holds them beside their words, so
 * that either spelling finds the other. Not joined words, as `long-term`, nor abbreviations, as `e.g.`. What dots join, such as the name
 * of a file, counts as a whole and by its parts.
 */
export const joinedCodes = (text: string): readonly string[] =>
  (text.match(wordsIn(text)) ?? []).flatMap((code) => {
    const parts = code.split('.');
    return (parts.length === 1 ? parts : [code, ...parts.filter((part) => OTHER_SIGN.test(part))]).flatMap((part) => {
      const joined = part.replace(SIGNS, '');
      return isCode(part, joined) ? [joined] : [];
    });
  });

/** A text whose codes are written in one; the same text where it has none. */
export const withCodesJoined = (text: string): string =>
  text.replace(wordsIn(text), (code) => {
    const joined = code.replace(SIGNS, '');
    return isCode(code, joined) ? joined : code;
  });

const wordsIn = (text: string): RegExp => (MAYBE_UNSPACED.test(text) ? WORDS_BESIDE_UNSPACED : WORDS);

const isCode = (code: string, joined: string): boolean => {
  if (joined === code || joined.length > LONGEST) return false;
  if (!/\p{L}/u.test(joined)) return joined.length >= FEWEST_DIGITS;
  return /\p{N}/u.test(joined) || (OF_NAMES.test(code) && code.split(SIGNS).some((part) => part.length > 1));
};

/** Units that are written behind a number with a space or without. */
const UNITS = new Set(
  'mm cm dm m km nm mg g kg t ml cl l v kv mv a ma w kw mw va kva wh kwh ah mah hz khz mhz ghz bar mbar pa hpa kpa mpa n kn s ms min h kb mb gb tb kbit mbit gbit db lm lx px dpi psi rpm eur usd chf'.split(
    ' ',
  ),
);
const NUMBER_AND_UNIT = /(?<![\p{L}\p{N}])(\p{N}{1,12})[ \u00a0\u202f]?(\p{L}{1,4})(?![\p{L}\p{N}])/gu;
/** A norm or a class, as `IP 65` and `ISO9001`. */
const NAME_AND_NUMBER = /(?<![\p{L}\p{N}])(\p{L}{2,4})[ \u00a0\u202f]?(\p{N}{2,6})(?![\p{L}\p{N}])/gu;

/**
 * What a query with a number and a unit, or the name and the number of a norm, is also looked up as: in one where they stand apart,
 * apart where they stand in one. So `25 Nm` finds `25Nm`, and `ISO9001` finds `ISO 9001`.
 */
export const otherSpacings = (text: string): readonly string[] => {
  const spaced = (whole: string, first: string, second: string): readonly string[] =>
    whole.length > first.length + second.length ? [first + second] : [first, second];
  return [
    ...[...text.matchAll(NUMBER_AND_UNIT)].flatMap(([whole, number = '', unit = '']) =>
      UNITS.has(unit.toLowerCase()) ? spaced(whole, number, unit) : [],
    ),
    ...[...text.matchAll(NAME_AND_NUMBER)].flatMap(([whole, name = '', number = '']) => spaced(whole, name, number)),
  ];
};
