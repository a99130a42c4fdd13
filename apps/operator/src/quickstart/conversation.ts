import type { PlatformClient } from '../platform-client';
import type { SourceFile } from './documents';

export interface Answer {
  readonly question: string;
  readonly text: string;
  readonly sources: readonly Source[];
}

interface Source {
  readonly title: string;
  readonly quote: string;
  readonly position: {
    readonly start: number;
    readonly end: number;
    readonly page?: number;
    readonly slide?: number;
    readonly sheet?: string;
    readonly row?: number;
    readonly heading?: string;
  };
}

type Part =
  | { readonly type: 'text'; readonly text: string }
  | ({ readonly type: 'source-document' } & Source)
  | { readonly type: 'reasoning' };

interface Turn {
  readonly conversationId: string;
  readonly message: { readonly parts: readonly Part[] };
}

/** Questions that the project's own documents answer. */
export const OWN_QUESTIONS = [
  'Where does the product keep its data?',
  'What does verify recompute, and what does it name?',
  'What happens to the data key when an aggregate is deleted?',
];

const QUESTIONS = 3;
const WORDS_QUOTED = 10;

/** A question about each of the first documents that hold a sentence. What else unknown documents answer cannot be known. */
export const questionsAbout = (files: readonly SourceFile[]): readonly string[] =>
  files
    .flatMap(({ text }) => /^[A-Z][^|<>*[\]`\n]{60,}/m.exec(text)?.[0] ?? [])
    .slice(0, QUESTIONS)
    .map((sentence) => `What is meant by "${sentence.split(/\s+/).slice(0, WORDS_QUOTED).join(' ')}"?`);

/** Asks the questions one after another in one new conversation. */
export const ask = async (
  api: PlatformClient,
  agentId: string,
  questions: readonly string[],
  heard: (answer: Answer) => void,
): Promise<readonly Answer[]> => {
  const answers: Answer[] = [];
  let conversationId: string | undefined;
  for (const question of questions) {
    const turn: Turn = await api.json(`/api/v1/core/llm/${agentId}/conversation`, {
      method: 'POST',
      body: { ...(conversationId === undefined ? {} : { conversationId }), message: question, stream: false },
    });
    conversationId = turn.conversationId;
    const answer = answerOf(question, turn.message.parts);
    answers.push(answer);
    heard(answer);
  }
  return answers;
};

const answerOf = (question: string, parts: readonly Part[]): Answer => ({
  question,
  text: parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(''),
  sources: parts.flatMap((part) =>
    part.type === 'source-document' ? [{ title: part.title, quote: part.quote, position: part.position }] : [],
  ),
});

export const answerLines = ({ question, text, sources }: Answer): readonly string[] => [
  `Q: ${question}`,
  ...text.split('\n').map((line, index) => `${index === 0 ? 'A:' : '  '} ${line}`),
  ...sources.flatMap(({ title, quote, position }, index) => [
    `   [${index + 1}] "${quote.replaceAll(/\s+/g, ' ')}"`,
    `       ${title}, ${place(position)}`,
  ]),
  '',
];

const place = ({ start, end, page, slide, sheet, row, heading }: Source['position']): string =>
  [
    ...(page === undefined ? [] : [`page ${page}`]),
    ...(slide === undefined ? [] : [`slide ${slide}`]),
    ...(sheet === undefined ? [] : [`sheet ${sheet}`]),
    ...(row === undefined ? [] : [`row ${row}`]),
    ...(heading === undefined ? [] : [`under "${heading}"`]),
    `characters ${start} to ${end}`,
  ].join(', ');

/** The questions whose answers, or what they quote, differ. */
export const differing = (before: readonly Answer[], after: readonly Answer[]): readonly string[] =>
  before
    .filter((answer, index) => JSON.stringify(answer) !== JSON.stringify(after[index]))
    .map(({ question }) => question);
