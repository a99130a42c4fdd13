import { isDevice } from './paths';
import { MAX_NAME } from './skill';

/**
 * The recommended scripts of UAX 31 (table 5), for identifiers. Scripts that one language writes together count as one, as in
 * UTS 39, 5.1.
 */
const SCRIPTS: readonly string[] = [
  'Latin Greek Cyrillic Armenian Georgian Arabic Hebrew Thaana Ethiopic Tibetan Thai Lao Khmer Myanmar',
  'Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala',
].flatMap((scripts) => scripts.split(' '));
const WRITTEN_TOGETHER = [
  ['Han', 'Hiragana', 'Katakana'],
  ['Han', 'Hangul'],
  ['Han', 'Bopomofo'],
];

/** What may stand in a slug of each script: its letters and digits. */
const characters = [...SCRIPTS.map((script) => [script]), ...WRITTEN_TOGETHER].map((scripts) => {
  const ofScript = scripts.map((script) => `\\p{scx=${script}}`).join('');
  return new RegExp(`^(?:(?=[\\p{L}\\p{Nd}])[${ofScript}]|[0-9-])+$`, 'u');
});

/** Written within words: leaving them out leaves the word. */
const WITHIN_WORDS = /['\u2019\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
/** Letters of no script by themselves, such as a modifier apostrophe, separate like punctuation. */
const SEPARATORS = /(?:(?![\p{L}\p{Nd}])[^]|(?=\p{scx=Common})\p{L})+/gu;

/**
 * The name of a Skill in the grammar of the Agent Skills format (specification, "name"): lowercase letters of one script, digits
 * and single hyphens, at most 64. Accents stay; marks that no letter has a composed form with are left out, since the format's
 * validator rejects them. Undefined where a name has letters of several scripts, or neither letters nor digits.
 */
export const slugOf = (name: string): string | undefined => {
  const words = name
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFKC')
    .replace(WITHIN_WORDS, '')
    .replace(SEPARATORS, '-')
    .replace(/^-|-$/g, '');
  const slug = [...words].slice(0, MAX_NAME).join('').replace(/-$/, '');
  // No folder may be called so, and an export has one of that name.
  if (isDevice(slug)) return `${slug}-skill`;
  return slug !== '' && characters.some((ofScript) => ofScript.test(slug)) ? slug : undefined;
};
