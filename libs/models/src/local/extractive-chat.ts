import type { ChatChunk, ChatProvider, ChatRequest, ChatResult, ChatSource } from '../provider';
import { estimatedTokens, usageOf } from '../usage';
import { Relevance } from './relevance';
import { type Sentence, sentencesOf } from './sentences';

/** Most sentences in an answer. */
const MAX_QUOTED = 3;
/** Least share of the question's weight that the best sentence must cover: below it, quoting would mislead. */
const LEAST_SHARE = 0.3;
/** A further sentence must come this close to the best one, and cover this much of the question that is not covered yet. */
const CLOSE_TO_BEST = 0.6;
const LEAST_ADDED = 0.12;
/** What the words of the headings above count beside those of the sentence. */
const HEADING_SHARE = 0.4;
/** Longer sentences cover more words by being long. */
const USUAL_WORDS = 40;

const NOTHING_FITS = 'I found nothing in the documents that answers this. I am the local model: I answer only by quoting sentences from them.';
const NO_SOURCES = 'I am the local model: I answer only by quoting documents, and I was given none that fit this question.';

interface Candidate {
  readonly source: number;
  readonly text: string;
  readonly score: number;
}

/** The chat model that needs no network: it quotes the sentences of the sources that cover the question best, and says so when none does. */
export class ExtractiveChat implements ChatProvider {
  async complete(request: ChatRequest): Promise<ChatResult> {
    let text = '';
    for await (const chunk of this.stream(request)) {
      if (chunk.type === 'text') text += chunk.text;
      else return { text, finishReason: chunk.finishReason, usage: chunk.usage };
    }
    throw new Error('the answer has no end');
  }

  async *stream({ messages, sources, signal }: ChatRequest): AsyncIterable<ChatChunk> {
    const question = messages.at(-1)?.text ?? '';
    const pieces = answer(question, sources);
    for (const text of pieces) {
      signal.throwIfAborted();
      yield { type: 'text', text };
    }
    const input = [...messages.map(({ text }) => text), ...sources.map(({ text }) => text)].join('\n');
    yield { type: 'finish', finishReason: 'stop', usage: usageOf({ input: estimatedTokens(input), output: estimatedTokens(pieces.join('')) }) };
  }
}

const answer = (question: string, sources: readonly ChatSource[]): readonly string[] => {
  if (sources.length === 0) return [NO_SOURCES];
  const quoted = best(question, sources);
  if (quoted.length === 0) return [NOTHING_FITS];
  return quoted.map(({ text, source }, index) => `${index === 0 ? '' : ' '}${text} [${source}]`);
};

/** The sentences that cover the question best, the best first; ties by the order of the sources. */
const best = (question: string, sources: readonly ChatSource[]): readonly Candidate[] => {
  const pieces = sources.flatMap((source) => sentencesOf(source.text).map(({ start, end, kind }) => ({ source, kind, text: source.text.slice(start, end) })));
  const relevance = new Relevance(question, pieces.map(({ source, text }) => `${source.headings.join(' ')} ${text}`));
  const candidates = pieces
    .map(({ source, kind, text }): Candidate => {
      const own = relevance.of(text);
      const withHeadings = relevance.of(`${source.title} ${source.headings.join(' ')} ${text}`);
      const rank = 1 + 0.2 / source.number;
      return { source: source.number, text: shown(text, kind), score: (own + HEADING_SHARE * (withHeadings - own)) * rank * readability(text, kind) };
    })
    .toSorted((a, b) => b.score - a.score);
  const [first] = candidates;
  if (first === undefined || first.score < LEAST_SHARE) return [];
  const chosen = [first];
  for (const candidate of candidates) {
    if (chosen.length === MAX_QUOTED || candidate.score < first.score * CLOSE_TO_BEST) break;
    const said = chosen.map(({ text }) => text).join(' ');
    if (relevance.of(`${said} ${candidate.text}`) - relevance.of(said) >= LEAST_ADDED) chosen.push(candidate);
  }
  return chosen;
};

/** A piece as it stands in an answer: on one line, a table row as its cells. */
const shown = (text: string, kind: Sentence['kind']): string => {
  const line = text.replace(/\s+/g, ' ');
  return kind === 'row' ? line.replace(/^\| ?/, '').replace(/ ?\|$/, '') : line;
};

/** How well a piece reads as an answer, 0 to 1: code, table rows, questions, stubs and endless sentences do so less. */
const readability = (text: string, kind: Sentence['kind']): number => {
  const words = text.split(/\s+/).length;
  const length = Math.sqrt(Math.min(1, USUAL_WORDS / words));
  if (kind !== 'prose') return length * (kind === 'row' ? 0.75 : 0.5);
  if (text.endsWith('?') || words < 4) return length * 0.5;
  return length * (/[.!:;][`)*"_]*$/.test(text) ? 1 : 0.85);
};
