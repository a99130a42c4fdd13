import { isDomainError } from '@app/kernel';
import type { ToolCall, ToolDescription } from '@app/models';
import { z } from 'zod';
import type { MessagePart, ToolPart } from '../conversation/message-parts';
import { beginningWithin, bytesOf } from './answer-size';
import { keptJson, keptText } from './kept-text';
import type { RetrievedPassage } from './retriever';
import { failedTool } from './tool-input';
import type { Tool, ToolContext, ToolOutput } from './tools';

/** Calls of one step that are run; more are errors to the model. */
const MAX_CALLS = 16;
/** Characters that the tools of one answer may give altogether. */
const MAX_RESULTS = 200_000;
/** Bytes of that as it is kept: the rest of what an answer may have is for its words. */
const MAX_RESULT_BYTES = 400_000;
/** Characters of the arguments of a call. */
const MAX_INPUT = 64_000;
const MAX_DEPTH = 32;
/** How long a call may take, milliseconds. */
const CALL_MS = 60_000;
/** Ids and names as every provider takes them back. */
const CALL_ID = /^[\w-]{1,40}$/;

/** What became of a call. */
export interface CallEnd {
  readonly fields: Partial<ToolPart>;
  readonly passages: readonly RetrievedPassage[];
  readonly shown?: readonly MessagePart[];
  /** What the model reads while the answer is made, in place of what is kept. */
  readonly given?: string;
}

/** What one answer calls tools by. */
export interface ToolCallsParts {
  /** Asked before each call. */
  readonly mayCall: () => Promise<boolean>;
  readonly logger: { warn(facts: object, message: string): void };
}

/** The tools of an Agent in one answer. The model gets every error of a call. */
export class ToolCalls {
  private readonly tools: ReadonlyMap<string, Tool>;
  /** Inputs that stand in no message, by their calls. */
  private readonly inputs = new Map<string, unknown>();

  constructor(
    tools: readonly Tool[],
    private readonly parts: ToolCallsParts,
  ) {
    this.tools = new Map(tools.map((tool) => [tool.name, tool]));
  }

  /** For the model; none for one without tools. */
  get descriptions(): readonly ToolDescription[] {
    return [...this.tools.values()].map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  }

  /** A call as it begins; `before`: the parts of the answer until then. */
  partOf({ callId, name, input: given }: ToolCall, before: readonly MessagePart[]): ToolPart {
    const toolName = name.replace(/[^\w-]/g, '_').slice(0, 64) || '_';
    const input = keptInput(given);
    const needsApproval =
      isArguments(input) && this.tools.get(toolName)?.approval === 'always' && callsIn(before).length < MAX_CALLS;
    const toolCallId = uniqueId(callId, before);
    return {
      type: 'tool',
      toolName,
      toolCallId,
      state: needsApproval ? 'approval-requested' : 'input-available',
      input: this.kept(toolName, toolCallId, input),
      ...(needsApproval ? { approval: {} } : {}),
    };
  }

  /** Runs a call that may be run. Throws the signal's reason where that ends it. */
  async run(part: ToolPart, parts: readonly MessagePart[], signal: AbortSignal): Promise<CallEnd> {
    const tool = this.tools.get(part.toolName);
    if (tool === undefined) return failed(`There is no tool ${part.toolName}. ${this.namesOfAll()}`);
    const input = this.inputs.get(part.toolCallId) ?? part.input;
    if (!isArguments(input))
      return failed(
        'The arguments must be a JSON object and must not be too long. Correct them and call the tool again.',
      );
    if (callsIn(parts).indexOf(part) >= MAX_CALLS) return failed(`You can make at most ${MAX_CALLS} calls at once.`);
    const ended = AbortSignal.any([signal, AbortSignal.timeout(CALL_MS)]);
    try {
      const given = await unlessEnded(this.call(tool, input, { signal: ended, callId: part.toolCallId }), ended);
      return endOf(given);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (ended.aborted) return failed('The tool did not answer in time.');
      this.parts.logger.warn({ error: error instanceof Error ? error.name : typeof error }, 'A tool failed.');
      return failed(isDomainError(error) ? `The tool failed: ${error.code}.` : 'The tool failed.');
    }
  }

  /** Rights are checked at each call: the answer may have been running for long, and may be stopped meanwhile. */
  private async call(tool: Tool, input: unknown, context: ToolContext): Promise<ToolOutput> {
    const may = await this.parts.mayCall();
    context.signal.throwIfAborted();
    return may ? tool.run(input, context) : failedTool(MAY_NOT);
  }

  /** What the message keeps of an input. */
  private kept(toolName: string, toolCallId: string, input: ToolPart['input']): ToolPart['input'] {
    const tool = this.tools.get(toolName);
    if (tool?.kept === undefined) return input;
    this.inputs.set(toolCallId, input);
    return keptInput(tool.kept(input));
  }

  private namesOfAll(): string {
    const names = [...this.tools.keys()];
    return names.length === 0 ? 'You have none.' : `You have: ${names.join(', ')}.`;
  }
}

/** What a call gave, cut to what the results of one answer may have altogether; `parts`: of the answer until now, `given`: what its calls gave that is not kept. */
export const fitting = (
  { fields, ...beside }: CallEnd,
  parts: readonly MessagePart[],
  given: ReadonlyMap<string, string> = new Map(),
): CallEnd => {
  const used = parts.reduce(
    (sum, part) =>
      part.type === 'tool' ? sum + (given.get(part.toolCallId) ?? part.output ?? part.errorText ?? '').length : sum,
    0,
  );
  const room = MAX_RESULTS - used;
  const text = beside.given ?? fields.output ?? fields.errorText ?? '';
  const remainingBytes = beside.given === undefined ? MAX_RESULT_BYTES - resultBytesIn(parts) : Infinity;
  const within = beginningWithin(text.slice(0, Math.max(0, room)).toWellFormed(), remainingBytes);
  if (within.length === text.length) return { fields, ...beside };
  if (within === '')
    return failed('The tool results of this answer have reached their limit. Answer with what you have.');
  const cut = `${within}\n[Cut: the results are too long.]`;
  if (beside.given !== undefined) return { fields, ...beside, given: cut };
  return { fields: { ...fields, ...(fields.output === undefined ? { errorText: cut } : { output: cut }) }, ...beside };
};

const resultBytesIn = (parts: readonly MessagePart[]): number =>
  parts.reduce((sum, part) => (part.type === 'tool' ? sum + bytesOf(part.output ?? part.errorText ?? '') : sum), 0);

/** Parts of an answer that ends before its calls do. */
export const closedCalls = (parts: readonly MessagePart[]): readonly MessagePart[] =>
  parts.map((part) => {
    if (part.type !== 'tool') return part;
    if (part.state === 'approval-requested') return { ...part, state: 'output-denied', approval: { approved: false } };
    return part.state === 'input-available' || part.state === 'approval-responded'
      ? { ...part, state: 'output-error', errorText: INTERRUPTED }
      : part;
  });

const MAY_NOT = 'The user can no longer use this assistant. End the answer.';
const INTERRUPTED = 'The call was interrupted. Whether it took effect is not known.';

/** The calls of the last step. */
export const callsIn = (parts: readonly MessagePart[]): readonly ToolPart[] =>
  parts
    .slice(parts.findLastIndex(({ type }) => type === 'step-start') + 1)
    .filter((part): part is ToolPart => part.type === 'tool');

const endOf = ({ output, isError, passages = [], part, skillId, kept }: ToolOutput): CallEnd => {
  const text = keptText(output);
  if (isError === true) return failed(text);
  const loaded = skillId === undefined ? {} : { skillId };
  const shown = part === undefined ? {} : { shown: [part] };
  const given = kept === undefined ? {} : { given: text };
  return { fields: { state: 'output-available', output: kept ?? text, ...loaded }, passages, ...shown, ...given };
};

const failed = (errorText: string): CallEnd => ({ fields: { state: 'output-error', errorText }, passages: [] });

const isArguments = (input: unknown): boolean => typeof input === 'object' && input !== null && !Array.isArray(input);

/** Arguments as they can be kept; text where they are too long or too deep, which runs no tool. */
const keptInput = (input: unknown): ToolPart['input'] => {
  if (input === undefined || input === '') return {};
  if (isDeeper(input, MAX_DEPTH)) return '[Too deep.]';
  const text = JSON.stringify(input);
  if (text.length > MAX_INPUT) return keptText(text.slice(0, 1_000));
  return z.json().parse(keptJson(JSON.parse(text)));
};

const isDeeper = (value: unknown, than: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (than === 0 || Object.values(value).some((inner) => isDeeper(inner, than - 1)));

/** Some providers number the calls of each step anew, or not at all. */
const uniqueId = (callId: string, parts: readonly MessagePart[]): string => {
  const taken = new Set(parts.map((part) => (part.type === 'tool' ? part.toolCallId : '')));
  if (CALL_ID.test(callId) && !taken.has(callId)) return callId;
  for (let number = taken.size; ; number += 1) {
    // Nine letters and digits: one provider takes no others.
    const made = `call${String(number).padStart(5, '0')}`;
    if (!taken.has(made)) return made;
  }
};

const unlessEnded = async <T>(work: Promise<T>, signal: AbortSignal): Promise<T> => {
  let leave = (): void => undefined;
  const ended = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason as Error);
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  });
  // An abandoned call continues alone, and its failure is ignored.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, ended]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
};
