import { normalisedName } from '@app/kernel';

/** Stand for the user in what they say, are an article, or say no more than "is": a memory has others in their place. */
const EMPTY = new Set(
  `a an the der die das den dem des ein eine einen einem einer eines
  i me my mine myself ich mich mir mein meine meinen meinem meiner meines
  am is are be bin ist sind do does`.split(/\s+/),
);
/** Stand for the user in a memory; where the user says them, they mean somebody else. */
const USER = new Set(
  `user users they them their he she his her you your
  nutzer nutzers nutzerin benutzer er sie sein seine ihr ihre`.split(/\s+/),
);
/** What asks for a memory, at the beginning of a sentence. */
const LEAD_IN =
  /^(?:(?:please|bitte|also|and|und|hi|hello|hallo|ok|okay)\s+)*(?:(?:remember|note|keep in mind|merke?|merk dir|merke dir|behalte|denk daran|notiere?)\b(?:\s+(?:that|dass|this|dir|bitte|fuer dich|für dich))*\s*)?/;
/** Where one of these stands, what else the sentence says may not hold: denials, conditions, what somebody else says. */
const DOUBT = new Set(
  `not no never if unless whether when maybe perhaps pretend imagine say says said tell tells told claim claims claimed think thinks thought according wrong false untrue would could
  nicht kein keine keinen nie niemals wenn falls ob vielleicht angenommen sagt sagte sagen meint meinte behauptet behauptete laut falsch waere wäre wuerde würde koennte könnte`.split(
    /\s+/,
  ),
);
const QUOTES = /["“”„«»‹›`]/;
const WORDS = /[\p{L}\p{N}]+/gu;

/** Whether the user says a memory: `paraphrased` where its words are theirs, and the sentence is not. */
export type Said = 'said' | 'paraphrased' | 'unsaid';

/**
 * Whether the user's own messages say what a memory says, word by word and in order. A sentence of a message must say it, or a clause of one
 * in which nothing is denied, supposed or reported, of themselves or in the same words: but for "I" in place of "the user", articles, and the ending of its verb. Questions,
 * quotations, code, and what stands behind a line that ends with a colon, are not said by the user. What is said in other words is not said:
 * it is proposed instead. Takes time in proportion to the texts.
 */
export const saidByUser = (text: string, messages: readonly string[]): Said => {
  const asSaid = wordsOf(text);
  const memory = asSaid.filter((word) => !USER.has(word));
  if (memory.length === 0) return 'unsaid';
  const sentences = messages.flatMap(sentencesOf);
  if ([memory, asSaid].some((words) => sentences.some((sentence) => says(sentence, words)))) return 'said';
  const spoken = new Set(messages.flatMap((message) => wordsOf(message)));
  return memory.every((word) => [...formsOf(word)].some((form) => spoken.has(form))) ? 'paraphrased' : 'unsaid';
};

const says = (sentence: string, memory: readonly string[]): boolean => {
  if (QUOTES.test(sentence) || sentence.endsWith('?')) return false;
  if (isSame(wordsOf(withoutLeadIn(sentence)), memory)) return true;
  const clauses = sentence.split(/,|;|\b(?:and|und|but|aber)\b/);
  return clauses.some(
    (clause, index) =>
      isSame(wordsOf(withoutLeadIn(clause)), memory) &&
      !clauses.some((other, at) => at !== index && rawWordsOf(other).some((word) => DOUBT.has(word))),
  );
};

/** The sentences that the user says in a message. */
const sentencesOf = (message: string): readonly string[] => {
  const own: string[] = [];
  for (const line of message.split(/\r?\n/)) {
    if (/^\s*(?:>|```|~~~)/.test(line)) break;
    own.push(...(normalisedName(line).match(/[^.!?]+[.!?]?/g) ?? []).map((sentence) => sentence.trim()));
    if (line.trimEnd().endsWith(':')) break;
  }
  return own;
};

const withoutLeadIn = (sentence: string): string => sentence.trim().replace(LEAD_IN, '');

const rawWordsOf = (text: string): readonly string[] =>
  normalisedName(text)
    .replaceAll(/n['’]t\b/g, ' not')
    .replaceAll(/['’](?:s|m|re|ve|ll)\b/g, ' ')
    .match(WORDS) ?? [];

const wordsOf = (text: string): readonly string[] => rawWordsOf(text).filter((word) => !EMPTY.has(word));

/** The same words in the same order; the first that differs may be the verb, "like" for "likes". */
const isSame = (said: readonly string[], memory: readonly string[]): boolean => {
  if (said.length !== memory.length) return false;
  const differing = memory.filter((word, index) => word !== said[index]);
  if (differing.length === 0) return true;
  const verb = differing[0] as string;
  return differing.length === 1 && memory.indexOf(verb) <= 1 && formsOf(verb).has(said[memory.indexOf(verb)] as string);
};

/** What the user may have said for a verb in the third person, and the word itself. */
const formsOf = (word: string): ReadonlySet<string> =>
  new Set([
    word,
    ...(word.endsWith('s') ? [word.slice(0, -1)] : []),
    ...(word.endsWith('es') ? [word.slice(0, -2)] : []),
    ...(word.endsWith('ies') ? [`${word.slice(0, -3)}y`] : []),
    ...(word.endsWith('t') ? [`${word.slice(0, -1)}e`] : []),
    ...(word.endsWith('et') ? [word.slice(0, -1)] : []),
    ...(word === 'has' ? ['have'] : []),
    ...(word === 'hat' ? ['habe'] : []),
  ]);
