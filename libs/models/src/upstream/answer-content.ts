import { randomUUID } from 'node:crypto';
import { GatheredText } from '@app/kernel';
import { z } from 'zod';
import type { ToolCall } from '../chat-messages';
import type { ChatResult } from '../provider';

/** More calls in one answer are a fault of its provider. */
const MOST_CALLS = 128;

/** A call of a tool, or a piece of one. Some providers leave out the index, repeat id and name, or give arguments as an object. */
const callPiece = z.object({
  index: z.number().int().nonnegative().nullish(),
  id: z.string().nullish(),
  function: z
    .object({ name: z.string().nullish(), arguments: z.union([z.string(), z.looseObject({})]).nullish() })
    .nullish(),
});

/** A part of a content that comes as a list: text, or what was thought before it (Mistral), itself a list of texts. Others are passed over. */
const contentPart = z.object({
  type: z.string().nullish(),
  text: z.string().nullish().catch(undefined),
  thinking: z
    .union([z.string(), z.array(z.object({ text: z.string().nullish().catch(undefined) }))])
    .nullish()
    .catch(undefined),
});

/** What a message or a delta of an answer says, as far as it is read. */
export const spoken = z.object({
  content: z.union([z.string(), z.array(contentPart)]).nullish(),
  reasoning_content: z.string().nullish().catch(undefined),
  reasoning: z.string().nullish().catch(undefined),
  tool_calls: z.array(callPiece).nullish(),
});
type Spoken = z.output<typeof spoken>;

interface OpenCall {
  readonly index: number | undefined;
  readonly id: string | undefined;
  readonly name: string;
  arguments: string;
}

/** An answer that comes in pieces: its text, its reasoning, and its calls of tools, put together. */
export class AnswerContent {
  private readonly said: { readonly type: 'text' | 'reasoning'; readonly words: GatheredText }[] = [];
  private readonly calls: OpenCall[] = [];
  private closed: readonly ToolCall[] | undefined;
  /** Whether it is none: its calls cannot be told apart, or are too many. More calls are passed over then, to the end that says what it used. */
  isBroken = false;

  get isEmpty(): boolean {
    return this.said.length === 0 && this.calls.length === 0;
  }

  /** What has been said of text and reasoning, in order, and then the calls. */
  get content(): ChatResult['content'] {
    return [...this.said.map(({ type, words }) => ({ type, text: words.text })), ...this.toolCalls()];
  }

  /** Takes a piece; answers what it says of text and reasoning. */
  push(piece: Spoken): readonly { readonly type: 'text' | 'reasoning'; readonly text: string }[] {
    const pieces: { readonly type: 'text' | 'reasoning'; readonly text: string }[] = [];
    const say = (type: 'text' | 'reasoning', text: string): void => {
      if (text !== '') pieces.push({ type, text });
    };
    // OpenRouter and vLLM say it as `reasoning`, DeepSeek as `reasoning_content`, some as both.
    say('reasoning', piece.reasoning_content ?? piece.reasoning ?? '');
    if (typeof piece.content === 'string') say('text', piece.content);
    else
      for (const { thinking, text } of piece.content ?? [])
        if (typeof thinking === 'string' || Array.isArray(thinking)) say('reasoning', thoughtIn(thinking));
        else say('text', text ?? '');
    for (const { type, text } of pieces) {
      const last = this.said.at(-1);
      if (last?.type === type) last.words.add(text);
      else this.said.push({ type, words: new GatheredText(text) });
    }
    for (const call of piece.tool_calls ?? []) this.pushCall(call);
    return pieces;
  }

  /** The calls, when all their pieces have come. */
  toolCalls(): readonly ToolCall[] {
    this.closed ??= this.calls.map(({ id, name, arguments: given }) => ({
      type: 'tool-call',
      callId: id ?? `call_${randomUUID()}`,
      name,
      input: inputOf(given),
    }));
    return this.closed;
  }

  private pushCall({ index: given, id: named, function: called }: z.output<typeof callPiece>): void {
    this.closed = undefined;
    const [index, id] = [given ?? undefined, named === '' ? undefined : (named ?? undefined)];
    const text = typeof called?.arguments === 'object' ? jsonOf(called.arguments) : (called?.arguments ?? '');
    const name = called?.name ?? '';
    const open = this.openCall(index, id, name !== '');
    if (open !== undefined) {
      open.arguments += text;
      return;
    }
    this.isBroken ||= name === '' || this.calls.length === MOST_CALLS;
    if (!this.isBroken) this.calls.push({ index, id, name, arguments: text });
  }

  /** The call that a piece goes on with: that of its index, unless a name and another id say that a call begins there; without an index, that of its id, or the last one. */
  private openCall(index: number | undefined, id: string | undefined, isNamed: boolean): OpenCall | undefined {
    if (index === undefined) return id === undefined ? this.calls.at(-1) : this.calls.find((call) => call.id === id);
    const open = this.calls.findLast((call) => call.index === index);
    const isNext = isNamed && id !== undefined && open?.id !== undefined && open.id !== id;
    return isNext ? undefined : open;
  }
}

const thoughtIn = (thinking: string | readonly { readonly text?: string | null | undefined }[]): string =>
  typeof thinking === 'string' ? thinking : thinking.map(({ text }) => text ?? '').join('');

const jsonOf = (value: object | null | undefined): string => (value ? JSON.stringify(value) : '');

/** A call without arguments has none. What is no JSON stays text: whoever runs the tool says so to the model. */
const inputOf = (given: string): unknown => {
  if (given.trim() === '') return {};
  try {
    return JSON.parse(given);
  } catch {
    return given;
  }
};
