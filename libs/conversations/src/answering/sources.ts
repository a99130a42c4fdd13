import { type ChatMessage, type ChatSource, termsOf } from '@app/models';
import type { RetrievedPassage } from './retriever';
import { isOfFile } from './shown-parts';

/** A question with fewer telling words is understood from the one before. */
const TELLING_WORDS = 3;

/** A passage as a model is given it. */
export const sourceOf = ({ documentName, headings, text }: RetrievedPassage, index: number): ChatSource => ({
  number: index + 1,
  title: documentName,
  headings,
  text,
});

/** What a user says, without what stands in attached files. */
const wordsAsked = ({ content }: ChatMessage): string =>
  content.flatMap((part) => (part.type === 'text' && !isOfFile(part.text) ? [part.text] : [])).join('\n\n');

/** What to search for: the question, with the one before where it says too little by itself. */
export const searchText = (messages: readonly ChatMessage[]): string => {
  const questions = messages.filter(({ role }) => role === 'user').map(wordsAsked);
  const question = questions.at(-1) ?? '';
  const before = questions.at(-2);
  return before === undefined || termsOf(question).length >= TELLING_WORDS ? question : `${before}\n${question}`;
};
