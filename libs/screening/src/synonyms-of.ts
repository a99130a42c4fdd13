import { SYNONYMS } from './synonyms';

const exact = new Map<string, number>();
const stems = new Map<string, number>();
for (const [index, words] of Object.values(SYNONYMS).entries())
  for (const word of words.split(' ')) {
    const isStem = word.endsWith('*');
    const known = isStem ? stems : exact;
    const name = isStem ? word.slice(0, -1) : word;
    if (!known.has(name)) known.set(name, index + 1);
  }
const LONGEST = Math.max(...[...stems.keys()].map(({ length }) => length));

const found = (word: string): number => {
  const whole = exact.get(word);
  if (whole !== undefined) return whole;
  for (let size = Math.min(LONGEST, word.length); size > 2; size--) {
    const stem = stems.get(word.slice(0, size));
    if (stem !== undefined) return stem;
  }
  return 0;
};

/** What stands before German verbs, and what their participles and infinitives have behind it. */
const PARTICLE =
  /^(?:zurueck|zusammen|herunter|weiter|durch|hinzu|unter|ueber|ab|an|auf|aus|bei|ein|fort|frei|her|hin|hoch|los|mit|nach|vor|weg|wieder|zu|um)(?:ge|zu)?|^ge/;

/** The synonyms that a word belongs to, from 1; 0 for none. Of a German verb with a particle, those of the verb. */
export const synonymsOf = (word: string): number => {
  const own = found(word);
  if (own !== 0 || word.length < 7) return own;
  const bare = word.replace(PARTICLE, '');
  return bare.length > 3 && bare.length < word.length ? found(bare) : 0;
};
