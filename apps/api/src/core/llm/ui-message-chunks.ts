import {
  type DataMemoryPart,
  type FinishedTurn,
  type MessagePart,
  type ReasoningPart,
  textBehind,
  type TextPart,
  type ToolPart,
} from '@app/conversations';
import {
  AFTER_STEPS,
  BEFORE_PARTS,
  isBehind,
  PART_END,
  place,
  STEP_APPROVALS,
  STEP_END,
  STEP_RESULTS,
  STEP_WAITS,
  type StreamPlace,
} from './stream-place';

/** An event of the UI message stream of the AI SDK, or its end. */
export type Chunk = Readonly<Record<string, unknown>> | '[DONE]';

export interface Placed {
  readonly place: StreamPlace;
  readonly chunk: Chunk;
}

export interface StreamedMessage {
  readonly answerId: string;
  readonly conversationId: string;
  /** As they are known by now. */
  readonly parts: readonly MessagePart[];
  /** How the stream ends; absent while it goes on. */
  readonly end?: FinishedTurn['answer'] | { readonly status: 'unrecorded'; readonly errorCode: string };
}

/**
 * The events of an answer after the place `after`, in order. They follow from the parts alone: every stream of a
 * message gives the same events, from the start or the middle, while it grows or when it is complete.
 */
export function* chunksOf(message: StreamedMessage, after?: StreamPlace): Generator<Placed> {
  const more = after && moreWords(message, after);
  if (more !== undefined) return yield more;
  for (const placed of allChunks(message, after))
    if (after === undefined || isBehind(placed.place, after)) yield placed;
}

/** What is new where the words that were heard last went on, as most pieces do; undefined where that is not all. */
const moreWords = ({ parts, end }: StreamedMessage, after: StreamPlace): Placed | undefined => {
  const last = parts.at(-1);
  if (end !== undefined || after.part !== parts.length || !isWords(last) || last.text.length <= after.offset)
    return undefined;
  const step = parts.findLastIndex(({ type }) => type === 'step-start');
  const isAlone = parts.every(({ type }, index) => index < step || (type !== 'tool' && type !== 'data-memory'));
  return isAlone && stepsIn(parts) === after.step ? wordsBehind(last, after, after.offset) : undefined;
};

const stepsIn = (parts: readonly MessagePart[]): number =>
  parts.reduce((count, { type }) => (type === 'step-start' ? count + 1 : count), 0);

const isWords = (part: MessagePart | undefined): part is TextPart | ReasoningPart =>
  part?.type === 'text' || part?.type === 'reasoning';

function* allChunks(message: StreamedMessage, after: StreamPlace | undefined): Generator<Placed> {
  const { answerId, conversationId, parts, end } = message;
  yield at(0, BEFORE_PARTS, 0, { type: 'start', messageId: answerId, messageMetadata: { conversationId } });
  yield at(0, BEFORE_PARTS, 1, { type: 'start-step' });
  let step = 0;
  let calls: ToolPart[] = [];
  let memories: DataMemoryPart[] = [];
  for (const [index, part] of parts.entries()) {
    if (part.type === 'step-start') {
      yield* stepEnd(step, calls, memories);
      yield* approvals(step, calls);
      step += 1;
      calls = [];
      memories = [];
      yield at(step, BEFORE_PARTS, 1, { type: 'start-step' });
    } else if (isWords(part)) {
      // Calls are run when the model has said all of their step.
      const isWhole =
        index < parts.length - 1 || end !== undefined || calls.some((each) => resultOf(each) !== undefined);
      yield* words(part, { step, part: index + 1 }, isWhole, after);
    } else if (part.type === 'tool') {
      calls.push(part);
      yield* call(part, { step, part: index + 1 });
    } else if (part.type === 'data-memory') memories.push(part);
    else yield at(step, index + 1, 0, part);
  }
  yield* lastStep(message, step, calls, memories);
}

/** What follows the parts of the step that is not, or was never, followed by another. */
function* lastStep(
  { conversationId, end }: StreamedMessage,
  step: number,
  calls: readonly ToolPart[],
  memories: readonly DataMemoryPart[],
) {
  const metadata = (answer: FinishedTurn['answer']) => ({
    type: 'finish',
    finishReason: answer.finishReason,
    messageMetadata: { conversationId, model: answer.model, usage: answer.usage },
  });
  yield* results(step, calls, memories);
  if (end?.status === 'waiting') {
    yield at(step, STEP_END, 0, { type: 'finish-step' });
    yield at(step, STEP_WAITS, 0, metadata(end));
    yield at(step, STEP_WAITS, 1, '[DONE]');
    return;
  }
  if (calls.some(({ approval }) => approval?.approved !== undefined) || end?.status === 'complete')
    yield at(step, STEP_END, 0, { type: 'finish-step' });
  yield* approvals(step, calls);
  if (end === undefined) return;
  if (end.status === 'complete') yield at(AFTER_STEPS, 0, 0, metadata(end));
  else if (end.status === 'stopped') yield at(AFTER_STEPS, 0, 0, { type: 'abort' });
  else yield at(AFTER_STEPS, 0, 0, { type: 'error', errorText: end.errorCode ?? 'internal' });
  yield at(AFTER_STEPS, 0, 1, '[DONE]');
}

function* stepEnd(step: number, calls: readonly ToolPart[], memories: readonly DataMemoryPart[]): Generator<Placed> {
  yield* results(step, calls, memories);
  yield at(step, STEP_END, 0, { type: 'finish-step' });
}

/** One part with its deltas, by the offsets of their ends: of what was heard, only the rest. */
function* words(
  part: TextPart | ReasoningPart,
  of: Pick<StreamPlace, 'step' | 'part'>,
  isWhole: boolean,
  after: StreamPlace | undefined,
): Generator<Placed> {
  const { type, text } = part;
  const id = idOf(part, of.part);
  yield { place: { ...of, offset: 0 }, chunk: { type: `${type}-start`, id } };
  const heard = after !== undefined && after.step === of.step && after.part === of.part ? after.offset : 0;
  if (text.length > heard) yield wordsBehind(part, of, heard);
  if (isWhole) yield { place: { ...of, offset: PART_END }, chunk: { type: `${type}-end`, id } };
}

const wordsBehind = (
  part: TextPart | ReasoningPart,
  { step, part: number }: Pick<StreamPlace, 'step' | 'part'>,
  heard: number,
): Placed => ({
  place: place(step, number, part.text.length),
  chunk: { type: `${part.type}-delta`, id: idOf(part, number), delta: textBehind(part, heard) },
});

const idOf = ({ type }: TextPart | ReasoningPart, number: number): string => `${type}-${number}`;

function* call({ toolCallId, toolName, input, approval }: ToolPart, of: Pick<StreamPlace, 'step' | 'part'>) {
  yield at(of.step, of.part, 0, { type: 'tool-input-start', toolCallId, toolName });
  yield at(of.step, of.part, 1, { type: 'tool-input-available', toolCallId, toolName, input });
  // One approval a call: it goes by the call's id.
  if (approval !== undefined)
    yield at(of.step, of.part, 2, { type: 'tool-approval-request', approvalId: toolCallId, toolCallId });
}

/** What calls that needed no approval gave, in the order of the calls: places go up, however the tools ended. Then the memories that they proposed. */
function* results(step: number, calls: readonly ToolPart[], memories: readonly DataMemoryPart[]): Generator<Placed> {
  for (const [index, each] of calls.filter(({ approval }) => approval === undefined).entries()) {
    const chunk = resultOf(each);
    if (chunk === undefined) return;
    yield at(step, STEP_RESULTS, index, chunk);
  }
  for (const [index, part] of memories.entries()) yield at(step, STEP_RESULTS, calls.length + index, part);
}

/** What was answered to the other calls, once all have an answer, and what they gave. */
function* approvals(step: number, calls: readonly ToolPart[]): Generator<Placed> {
  const asked = calls.filter(({ approval }) => approval !== undefined);
  if (asked.some(({ state }) => state === 'approval-requested')) return;
  for (const [index, each] of asked.entries()) {
    const approved = each.approval?.approved;
    if (approved !== undefined)
      yield at(step, STEP_APPROVALS, 2 * index, {
        type: 'tool-approval-response',
        approvalId: each.toolCallId,
        approved,
      });
    const chunk = resultOf(each);
    if (chunk === undefined) return;
    yield at(step, STEP_APPROVALS, 2 * index + 1, chunk);
  }
}

const resultOf = ({ state, toolCallId, output, errorText }: ToolPart): Chunk | undefined => {
  switch (state) {
    case 'output-available':
      return { type: 'tool-output-available', toolCallId, output };
    case 'output-error':
      return { type: 'tool-output-error', toolCallId, errorText };
    case 'output-denied':
      return { type: 'tool-output-denied', toolCallId };
    default:
      return undefined;
  }
};

const at = (step: number, part: number, offset: number, chunk: Chunk): Placed => ({
  place: place(step, part, offset),
  chunk,
});
