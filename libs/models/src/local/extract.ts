import { MAYBE_UNSPACED, UNSPACED_LETTERS } from '@app/kernel/threads';
import type { ChatSource } from '../provider';
import { Relevance } from './relevance';
import { type Sentence, sentencesOf } from './sentences';
import { termsOf } from './terms';

/** Most sentences in an answer. */
const MAX_SENTENCES = 4;
/** Least share of the question's weight that the best sentence must cover: below it, an answer would mislead. */
const LEAST_SHARE = 0.3;
/** A further sentence must cover this much of the question that is not covered yet, */
const MUCH_ADDED = 0.25;
/** or this much, and come this close to the best one, */
const LEAST_ADDED = 0.12;
const CLOSE_TO_BEST = 0.6;
/** or come this close, and stand in the passage of the best one. */
const AS_GOOD = 0.85;
/** Two sentences that share this much of their words say the same. */
const SAME = 0.7;
/** What the words of the headings above count beside those of the sentence. */
const HEADING_SHARE = 0.4;
/** Longer sentences cover more words by being long. */
const USUAL_WORDS = 35;
const FEWEST_WORDS = 4;
/** A sentence is about what its first words name. */
const SUBJECT_TERMS = 3;
const ABOUT_IT = 1.2;

/** A sentence that may stand in an answer, and where it was found. */
export interface Extract {
  /** Number of the source. */
  readonly source: number;
  readonly text: string;
}

interface Candidate extends Extract {
  readonly place: number;
  readonly score: number;
  readonly terms: ReadonlySet<string>;
}

/**
 * The whole sentences of the sources that answer a question best, at most four, none that repeats another; in the order of
 * the text within a source, the source of the best one first. Empty where none covers enough of the question.
 */
export const extractsFor = (question: string, sources: readonly ChatSource[]): readonly Extract[] => {
  const pieces = sources.flatMap((source) =>
    sentencesOf(source.text).flatMap((sentence, place) => readable(source, sentence, place)),
  );
  const relevance = new Relevance(
    MAYBE_UNSPACED.test(question) ? question.replace(ASKING, ' ') : question,
    pieces.map(({ source, text }) => `${source.headings.join(' ')} ${text}`),
  );
  const candidates = pieces
    .map(({ source, text, place, ease }): Candidate => {
      const own = relevance.of(text);
      const withHeadings = relevance.of(`${source.title} ${source.headings.join(' ')} ${text}`);
      const rank = 1 + 0.2 / source.number;
      const terms = termsOf(text);
      const about = terms.slice(0, SUBJECT_TERMS).some((term) => relevance.asks(term)) ? ABOUT_IT : 1;
      return {
        source: source.number,
        text,
        place,
        terms: new Set(terms),
        score: (own + HEADING_SHARE * (withHeadings - own)) * rank * ease * about,
      };
    })
    .toSorted((a, b) => b.score - a.score);
  const [first] = candidates;
  if (first === undefined || first.score < LEAST_SHARE) return [];
  const chosen = [first];
  for (const candidate of candidates.slice(1)) {
    if (chosen.length === MAX_SENTENCES) break;
    if (chosen.some(({ terms }) => overlap(terms, candidate.terms) >= SAME)) continue;
    const said = chosen.map(({ text }) => text).join(' ');
    const added = relevance.of(`${said} ${candidate.text}`) - relevance.of(said);
    const close = candidate.score / first.score;
    if (
      added >= MUCH_ADDED ||
      (added >= LEAST_ADDED && close >= CLOSE_TO_BEST) ||
      (close >= AS_GOOD && candidate.source === first.source)
    )
      chosen.push(candidate);
  }
  const order = [...new Set(chosen.map(({ source }) => source))];
  return chosen.toSorted((a, b) => order.indexOf(a.source) - order.indexOf(b.source) || a.place - b.place);
};

/** A piece of a source as it would stand in an answer or a summary, and how easily it reads, 0 to 1. None for code, drawings, stubs and questions. */
export const readable = (
  source: ChatSource,
  { start, end, kind }: Sentence,
  place: number,
): readonly { source: ChatSource; text: string; place: number; ease: number }[] => {
  const piece = source.text.slice(start, end).replace(/\s+/g, ' ');
  const text = kind === 'row' ? rowText(piece) : piece;
  const words = wordsIn(text);
  if (
    kind === 'code' ||
    words < FEWEST_WORDS ||
    DRAWN.test(text) ||
    text.endsWith('?') ||
    (kind === 'prose' && !WHOLE.test(text))
  )
    return [];
  const ease = Math.min(1, USUAL_WORDS / words) * (kind === 'row' ? 0.6 : 1) * (DANGLING.test(text) ? 0.8 : 1);
  return [{ source, text, place, ease }];
};

/** The cells of a table row that hold something: what it is about, then what is said of it. */
const rowText = (row: string): string => {
  const [about = '', ...said] = row
    .split('|')
    .map((cell) => cell.trim())
    .filter((cell) => cell !== '');
  return said.length === 0 ? about : `${about}: ${said.join(', ')}`;
};

/** Letters of a script without spaces that are as much as a word. */
const LETTERS_A_WORD = 1.5;
const UNSPACED_LETTER = new RegExp(`[${UNSPACED_LETTERS}]`, 'gu');

/** The words of a text on one line. */
const wordsIn = (text: string): number => {
  const words = text.split(' ');
  if (!MAYBE_UNSPACED.test(text)) return words.length;
  const lengths = words.map((word) => (word.match(UNSPACED_LETTER)?.length ?? 0) / LETTERS_A_WORD);
  return lengths.reduce((sum, length) => sum + Math.max(1, length), 0);
};

/** Begins as a sentence does, in a script with capitals or without, and ends as one; Thai and Lao write no full stops. */
const WHOLE =
  /^["'(*_`\u201c\u201e\u300c\u300e\u300a\uff08\p{Lu}\p{Lo}\p{N}].*(?:[.!:;\u3002\uff01\uff1a\uff1b\uff61\u0964\u06d4\u104b\u17d4][`)*"'_\u201d\u300d\u300f\u300b\uff09]*|[\p{Script=Thai}\p{Script=Lao}])$/u;

/**
 * What only asks, in Chinese, Japanese and Korean: with no spaces around it, it would stand in pairs with what is asked for. English and
 * German have stop words.
 */
const ASKING =
  /请问|请?告诉我|请?(?:解释|说明|介绍)一?下?|什么(?:时候|地方|样)?(?:是)?|为(?:什么|何)|怎么样?|怎样|如何|哪[里些个儿]|多[少久长]|是否|[吗呢]|(?<=\p{L})[是的在](?=\p{L})|教えてください|なぜ|いつ|どこ|どのよう|どう|どれ|とは|(?:です|ます|でしょう)か|무엇|언제|어디|누가|어떻게|얼마나|왜|[되하됩합]?(?:나요|니까|까요|는가|가요)/gu;

/** Boxes and arrows. */
const DRAWN = /[\u2190-\u21ff\u2500-\u257f\u25a0-\u25ff]/;
/** Speaks of something that the sentence before it names. */
const DANGLING = /^(?:It|They|This|These|That|Those|Then|There|Er|Sie|Es|Diese?[rs]?|Das)\b/;

export const overlap = (a: ReadonlySet<string>, b: ReadonlySet<string>): number => {
  const shared = [...a].filter((term) => b.has(term)).length;
  return shared / Math.max(1, Math.min(a.size, b.size));
};
