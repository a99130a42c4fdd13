import { canonicalText, folded, hiddenText, isReordered, type ScreeningPurpose } from './canonical';
import { base64, decodings, unescaped } from './decodings';
import { modelFor, probability, windows } from './model';
import { RULES } from './rules';
import { secretsIn } from './secrets';

/** What screening says of a text. */
export interface Screening {
  /** The canonical form: what was screened, and what is to be stored. */
  readonly canonical: string;
  readonly verdict: 'safe' | 'flagged';
  /** How unsafe it seems, from 0 to 1. */
  readonly score: number;
  /** Why it was flagged; none of a safe text. */
  readonly rules: readonly string[];
  /** Rules, weights and, if one was asked, the model that said so. */
  readonly version: string;
}

const VERSION = 'model-16';

/** Words of two rules together count where the model finds the text at least so unsafe: they come together in harmless texts too. */
const LIKELY = 0.4;

const FORM = /^(?:form|person|agent|order|quoting)/;

/** What, in one sentence with an order to set rules aside, nobody writes harmlessly unless about attacks. */
const DECISIVE = ['reveal.show', 'reveal.send', 'hide.tell', 'hide.secretly', 'role.unbound'];

const QUOTING = RULES.find(({ id }) => id === 'quoting')?.pattern ?? /$^/;

/** The rules that a part of a folded text breaks, in one sentence or spread over it. */
const broken = (read: string, text: string, purpose: ScreeningPurpose, isLikely: boolean): readonly string[] => {
  const hits = RULES.filter(({ pattern }) => pattern.test(read)).map(({ id }) => id);
  const isForm = hits.some((id) => id.startsWith('form'));
  const suspects = new Set(hits.filter((id) => !FORM.test(id)));
  const isDecisive = suspects.has('obey.override') && DECISIVE.some((id) => suspects.has(id)) && !QUOTING.test(text);
  if (!isDecisive && !isLikely) return [];
  if (purpose !== 'memory') {
    const groups = new Set([...suspects].map((id) => id.split('.')[0]));
    return isDecisive || (groups.size >= 3 && !QUOTING.test(text)) ? [...suspects] : [];
  }
  const isHarmlessOften = isForm || hits.includes('person.fact');
  return isDecisive || suspects.size >= (isHarmlessOften ? 3 : 2) ? [...suspects] : [];
};

/** Screens a text. Pure, synchronous and the same for the same text, in time linear in its length. */
export const screen = (text: string, purpose: ScreeningPurpose): Screening => {
  const canonical = canonicalText(text, purpose);
  const rules = new Set([...new Set([canonical, unescaped(canonical), base64(canonical)])].flatMap(secretsIn));
  if (hiddenText(text) !== undefined) rules.add('hide.unseen');
  if (isReordered(text)) rules.add('hide.reordered');
  const model = modelFor(purpose);
  let score = 0;
  const read = folded(canonical);
  for (const each of [read, ...decodings(canonical)]) {
    const [whole, ...sentences] = windows(each);
    const likely = Math.max(...[whole, ...sentences].map((window) => probability(window, model)));
    score = Math.max(score, likely);
    // Over a long text words of all rules come together by chance.
    const together = purpose === 'memory' || sentences.length === 0 ? [each] : sentences;
    const found = together.flatMap((part) => broken(part, each, purpose, likely >= LIKELY));
    for (const id of found) rules.add(id);
    if (found.length > 0 && each !== read) rules.add('hide.encoded');
  }
  if (rules.size > 0) score = 1;
  else if (score >= model.threshold) rules.add('model');
  const isFlagged = rules.size > 0;
  return {
    canonical,
    verdict: isFlagged ? 'flagged' : 'safe',
    score,
    rules: [...rules],
    version: VERSION,
  };
};
