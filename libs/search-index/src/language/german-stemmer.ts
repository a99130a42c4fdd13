/**
 * The stem of a folded German word (umlauts as plain vowels, `ss` for sharp s): removes the endings of declension in two
 * steps, after J. Savoy, "Light stemming approaches for the French, Portuguese, German and Hungarian languages" (2006). Of our
 * own: Elasticsearch has this one (`light_german`), and no package does; those with Snowball's German are no longer kept up.
 */
export const germanStem = (word: string): string => {
  if (word.length <= 4 || !/^[a-z]+$/.test(word)) return word;
  return withoutComparison(withoutCase(word));
};

const withoutCase = (word: string): string => {
  if (word.length > 5 && word.endsWith('ern')) return word.slice(0, -3);
  if (/(?:em|en|er|es)$/.test(word)) return word.slice(0, -2);
  if (word.endsWith('e')) return word.slice(0, -1);
  return /[bdfghklmnt]s$/.test(word) ? word.slice(0, -1) : word;
};

const withoutComparison = (word: string): string => {
  if (word.length > 5 && word.endsWith('est')) return word.slice(0, -3);
  if (word.length > 4 && /(?:er|en)$/.test(word)) return word.slice(0, -2);
  return word.length > 4 && /[bdfghklmnt]st$/.test(word) ? word.slice(0, -2) : word;
};
