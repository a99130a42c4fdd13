import { SYNONYMS } from './synonyms';
import { wordClasses } from './word-classes';

const found = wordClasses(SYNONYMS, { heads: true });

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
