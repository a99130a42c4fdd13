import type { Route } from '@app/models';
import type { ChatParameters } from './chat-parameters';
import { type Fields, isFields } from './checks';

/** The body that a provider gets: its own name of the model, its own name of the most tokens, usage always asked for. */
export const chatRequest = ({ messages, stream, maxTokens, passed, unknown }: ChatParameters, { model, upstream }: Route): string => {
  const body: Record<string, unknown> = { model: model.modelId, messages, ...passed };
  if (maxTokens !== undefined) body[model.maxTokensField] = maxTokens;
  if (stream) {
    body['stream'] = true;
    body['stream_options'] = { ...(passed['stream_options'] as Fields | undefined), include_usage: true };
  }
  for (const name of upstream.description.forward) if (Object.hasOwn(unknown, name)) body[name] = unknown[name];
  return JSON.stringify(body);
};

/** Tokens of one message beside its words. */
const PER_MESSAGE = 4;
/** Tokens of a picture, sound or file, about. */
const PER_ATTACHMENT = 1_000;
const BYTES_PER_TOKEN = 4;

/** Input tokens of a chat request: counted by the usual rule of thumb of four bytes each, and at most, since no vocabulary has more than one for a byte. */
export const chatInput = ({ messages, passed }: ChatParameters): { readonly counted: number; readonly most: number } => {
  let bytes = passed['tools'] === undefined ? 0 : Buffer.byteLength(JSON.stringify(passed['tools']));
  let tokens = 0;
  for (const { content, tool_calls: calls } of messages) {
    tokens += PER_MESSAGE;
    if (typeof content === 'string') bytes += Buffer.byteLength(content);
    else if (Array.isArray(content)) {
      for (const part of content as Fields[]) {
        if (typeof part['text'] === 'string') bytes += Buffer.byteLength(part['text']);
        else tokens += PER_ATTACHMENT;
      }
    }
    if (Array.isArray(calls)) bytes += Buffer.byteLength(JSON.stringify(calls));
  }
  return { counted: tokens + countedTokens(bytes), most: tokens + bytes };
};

/** Tokens of a text by its length in bytes. */
export const countedTokens = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN);

/** Characters of text read as latin1, which are bytes, that a message or delta says: its text, its refusal, what it reasons aloud and the calls it makes. */
export const charactersOf = (said: unknown): number => {
  if (!isFields(said)) return 0;
  let characters = lengthOf(said['content']) + lengthOf(said['refusal']) + lengthOf(said['reasoning_content']) + lengthOf(said['reasoning']);
  const calls = said['tool_calls'];
  if (!Array.isArray(calls)) return characters;
  for (const call of calls) {
    const called = isFields(call) ? call['function'] : undefined;
    if (isFields(called)) characters += lengthOf(called['name']) + lengthOf(called['arguments']);
  }
  return characters;
};

const lengthOf = (value: unknown): number => (typeof value === 'string' ? value.length : 0);
