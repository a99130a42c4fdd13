import { type KnownUsage, type ModelDescription, noAnswer, UpstreamFailure } from '@app/models';
import { charactersOf } from './chat-request';
import { type Fields, isFields } from './checks';
import { changedJson, latin1, parsedJson, unmarked } from './latin1';
import { chatUsage, knownUsage } from './usage-report';

/** A whole answer for the client, and what it used. */
export interface ChatAnswer {
  /** JSON, its bytes read as latin1. */
  readonly text: string;
  readonly known: KnownUsage;
}

/**
 * Converts a provider's answer for the client. Keeps its bytes if it names the model as the client does, reports
 * usage and has every field that clients rely on; otherwise completes it. Reads the text as latin1, so bytes stay as
 * they are. Throws `UpstreamFailure` for an invalid answer.
 */
export const chatAnswer = (
  bytes: Buffer,
  served: ModelDescription,
  { key, input, id }: { readonly key: string; readonly input: number; readonly id: string },
): ChatAnswer => {
  const text = unmarked(bytes.toString('latin1'));
  const answer = answerIn(text, served);
  const known = knownUsage(answer['usage'], served, input, { characters: charactersOf(answer.choices[0]?.message) });
  const reported = known.source === 'upstream' && hasCommonUsage(answer['usage']);
  if (answer['model'] === latin1(key) && reported && hasHead(answer) && answer.choices.every(isComplete))
    return { text, known };
  const completed = ({ id: given, object, created, ...rest }: Fields): object => ({
    id: given ?? `chatcmpl-${id}`,
    object: object ?? 'chat.completion',
    created: created ?? Math.floor(Date.now() / 1000),
    ...rest,
    // The same answer, read anew as text: `answerIn` has looked at its choices.
    choices: (rest as Answer).choices.map(completedChoice),
    model: key,
    ...(reported ? {} : { usage: chatUsage(known.usage) }),
  });
  return { text: changedJson(text, completed), known };
};

/** Whether a usage can go to the client as it is. */
export const hasCommonUsage = (usage: unknown): boolean =>
  isFields(usage) && typeof usage['prompt_tokens'] === 'number' && typeof usage['total_tokens'] === 'number';

const hasHead = ({ id, object, created }: Fields): boolean =>
  typeof id === 'string' && typeof object === 'string' && typeof created === 'number';

const isComplete = ({ index, finish_reason: reason, logprobs, message: { role, content, refusal } }: Choice): boolean =>
  index !== undefined &&
  reason !== undefined &&
  logprobs !== undefined &&
  role !== undefined &&
  content !== undefined &&
  refusal !== undefined;

/** Where there is nothing, null is said. */
const completedChoice = ({ index, message, ...choice }: Choice, place: number): Choice => {
  const { role = 'assistant', content = null, refusal = null } = message;
  return {
    index: index ?? place,
    finish_reason: null,
    logprobs: null,
    ...choice,
    message: { ...message, role, content, refusal },
  };
};

type Choice = Fields & { readonly message: Fields };
type Answer = Fields & { readonly choices: readonly Choice[] };

const answerIn = (text: string, served: ModelDescription): Answer => {
  const answer = parsedJson(text);
  if (!isFields(answer)) throw new UpstreamFailure('broken');
  const { choices, error = null } = answer;
  if (
    error !== null ||
    !Array.isArray(choices) ||
    choices.length === 0 ||
    !choices.every((choice) => isFields(choice) && isFields(choice['message']))
  )
    throw noAnswer(answer['usage'], served);
  return answer as Answer;
};
