import type { CountedTokens, Route } from '@app/models';
import type { ChatParameters } from './chat-parameters';
import { type Fields, isFields } from './checks';
import { partSize } from './part-tokens';

/** The body that a provider gets: its own name of the model, its own name of the most tokens, usage always asked for where that can be. */
export const chatRequest = (
  { messages, stream, maxTokens, passed, unknown }: ChatParameters,
  { model, upstream }: Route,
): string => {
  const body: Record<string, unknown> = { model: model.modelId, messages, ...passed };
  if (maxTokens !== undefined) body[model.maxTokensField] = maxTokens;
  if (stream) {
    body['stream'] = true;
    body['stream_options'] =
      upstream.description.streamOptions === false
        ? undefined
        : { ...(passed['stream_options'] as Fields | undefined), include_usage: true };
  }
  for (const name of upstream.description.forward) if (Object.hasOwn(unknown, name)) body[name] = unknown[name];
  return JSON.stringify(body);
};

/** Tokens of one message beside its words. */
const PER_MESSAGE = 4;
const BYTES_PER_TOKEN = 4;

/**
 * The input tokens of a chat request: an estimate of four bytes a token, and the maximum, one byte a token. `routes`:
 * where it may go.
 */
export const chatInput = (
  { messages, passed, unknown }: ChatParameters,
  routes: readonly Route[] = [],
): CountedTokens => {
  let bytes = bytesOf(passed['tools']);
  for (const name of Object.keys(unknown)) {
    const value = unknown[name];
    if (isText(value) && routes.some(({ upstream }) => upstream.description.forward.includes(name)))
      bytes += bytesOf(value);
  }
  let tokens = PER_MESSAGE * messages.length;
  let mostTokens = tokens;
  for (const message of messages) {
    for (const name of Object.keys(message)) {
      const value = message[name];
      if (name === 'role') continue;
      if (name !== 'content' || !Array.isArray(value)) bytes += bytesOf(value);
      else {
        for (const part of value as Fields[]) {
          const size = partSize(part);
          bytes += size.bytes;
          tokens += size.counted;
          mostTokens += size.most;
        }
      }
    }
  }
  return { counted: tokens + countedTokens(bytes), most: mostTokens + bytes };
};

/** Functions and documents have words, numbers have none. */
const isText = (value: unknown): boolean => typeof value === 'string' || typeof value === 'object';

/** Whatever a message says beside its content is read by some model: names, refusals, calls, what it reasoned aloud. */
const bytesOf = (value: unknown): number => {
  if (typeof value === 'string') return Buffer.byteLength(value);
  return value === undefined || value === null ? 0 : Buffer.byteLength(JSON.stringify(value));
};

/** Tokens of a text by its length in bytes. */
export const countedTokens = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN);

/** Characters of text read as latin1, which are bytes, that a message or delta says: its text, its refusal, what it reasons aloud and the calls it makes. */
export const charactersOf = (said: unknown): number => {
  if (!isFields(said)) return 0;
  let characters =
    lengthOfContent(said['content']) +
    lengthOf(said['refusal']) +
    Math.max(lengthOf(said['reasoning_content']), lengthOf(said['reasoning']));
  const { function_call: legacy, tool_calls: calls } = said;
  if (legacy !== undefined) characters += charactersOfCall(legacy);
  if (!Array.isArray(calls)) return characters;
  for (const call of calls)
    if (isFields(call)) characters += charactersOfCall(call['function']) + charactersOfCall(call['custom']);
  return characters;
};

/** `input`: of a tool whose input has a form of its own. */
const charactersOfCall = (called: unknown): number =>
  isFields(called) ? lengthOf(called['name']) + lengthOf(called['arguments']) + lengthOf(called['input']) : 0;

const lengthOf = (value: unknown): number => (typeof value === 'string' ? value.length : 0);

/** Some providers say a content as a list of parts: texts, and lists of what was thought before. */
const lengthOfContent = (content: unknown): number =>
  Array.isArray(content)
    ? content.filter(isFields).reduce((sum, { text, thinking }) => sum + lengthOf(text) + lengthOfThought(thinking), 0)
    : lengthOf(content);

const lengthOfThought = (thinking: unknown): number =>
  Array.isArray(thinking)
    ? thinking.filter(isFields).reduce((sum, { text }) => sum + lengthOf(text), 0)
    : lengthOf(thinking);
