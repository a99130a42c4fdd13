import type { ChatSource } from '../provider';
import { overlap, readable } from './extract';
import { sentencesOf } from './sentences';
import { termsOf } from './terms';

/** Most sentences of a summary, and most characters. */
const MAX_SENTENCES = 4;
const MAX_LENGTH = 700;
/** Two sentences that share this much of their words say the same. */
const SAME = 0.8;
/** What words count that were said already, each time again. */
const SAID = 0.5;
/** Characters of the text that stand for one without a readable sentence. */
const BEGINNING = 300;

/**
 * Sums sources up in sentences of their own: those whose words are the most frequent in all of them, where words that were said already
 * count half each time (after SumBasic; Nenkova and Vanderwende, 2005). In the order of the sources. Of sources without a readable sentence,
 * their beginning.
 */
export const summaryOf = (sources: readonly ChatSource[]): string => {
  const candidates = sources.flatMap((source) =>
    sentencesOf(source.text)
      .flatMap((sentence, place) => readable(source, sentence, place))
      .map(({ text, ease, place }) => ({ text, ease, place, source, terms: termsOf(text) }))
      .filter(({ terms }) => terms.length > 0),
  );
  const weights = frequencies(sources);
  const chosen: typeof candidates = [];
  for (let open = candidates, length = 0; open.length > 0 && chosen.length < MAX_SENTENCES;) {
    const score = ({ terms, ease }: (typeof open)[number]): number =>
      (ease * terms.reduce((sum, term) => sum + (weights.get(term) ?? 0), 0)) / terms.length;
    const best = open.reduce((top, candidate) => (score(candidate) > score(top) ? candidate : top));
    const known = new Set(best.terms);
    open = open.filter(({ terms }) => overlap(new Set(terms), known) < SAME);
    if (chosen.length > 0 && length + best.text.length > MAX_LENGTH) continue;
    chosen.push(best);
    length += best.text.length;
    for (const term of known) weights.set(term, (weights.get(term) ?? 0) * SAID);
  }
  if (chosen.length === 0) return sources.map(beginning).filter(Boolean).join(' ').slice(0, MAX_LENGTH);
  return chosen
    .toSorted((a, b) => a.source.number - b.source.number || a.place - b.place)
    .map(({ text }) => text)
    .join(' ');
};

/** How often each term stands in the sources, with their headings, as a share of all terms. */
const frequencies = (sources: readonly ChatSource[]): Map<string, number> => {
  const terms = sources.flatMap(({ headings, text }) => termsOf([...headings, text].join('\n')));
  const share = 1 / Math.max(1, terms.length);
  const found = new Map<string, number>();
  for (const term of terms) found.set(term, (found.get(term) ?? 0) + share);
  return found;
};

const beginning = ({ text }: ChatSource): string => text.replace(/\s+/g, ' ').trim().slice(0, BEGINNING);
