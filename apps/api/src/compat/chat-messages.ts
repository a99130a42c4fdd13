import { type Fields, given, isFields, missing, wrongType, wrongValue } from './checks';
import type { GatewayError } from '@app/http';
import { isPublicAddress } from '@app/tools';

const ROLES: ReadonlySet<unknown> = new Set(['system', 'developer', 'user', 'assistant', 'tool', 'function']);
const MAX_MESSAGES = 10_000;

/** Checks the shape that the common format gives to messages; what they hold is the model's business. */
export const checkMessages = (value: unknown): readonly Fields[] => {
  if (!given(value)) throw missing('messages');
  if (!Array.isArray(value)) throw wrongType('messages', 'an array of objects', value);
  if (value.length === 0) throw wrongValue('messages', 'it must have at least one message.');
  if (value.length > MAX_MESSAGES) throw wrongValue('messages', `it must have at most ${MAX_MESSAGES} messages.`);
  for (let index = 0; index < value.length; index += 1) checkMessage(value[index], index);
  return value as Fields[];
};

const checkMessage = (message: unknown, index: number): void => {
  if (!isFields(message)) throw wrongType(`messages[${index}]`, 'an object', message);
  const { role, content } = message;
  if (!given(role)) throw missing(`messages[${index}].role`);
  if (!ROLES.has(role))
    throw wrongValue(`messages[${index}].role`, 'it must be system, developer, user, assistant or tool.');
  if (role === 'assistant') checkToolCalls(message, index);
  if (role === 'tool' && !given(message['tool_call_id'])) throw missing(`messages[${index}].tool_call_id`);
  if (typeof content === 'string') return;
  if (!given(content)) {
    // An assistant's turn may consist of calls alone.
    if (role !== 'assistant' || (content === undefined && !speaksOtherwise(message)))
      throw missing(`messages[${index}].content`);
  } else if (Array.isArray(content))
    content.forEach((part, place) => checkPart(part, `messages[${index}].content[${place}]`));
  else throw wrongType(`messages[${index}].content`, 'a string or an array of objects', content);
};

const speaksOtherwise = (message: Fields): boolean =>
  ['tool_calls', 'function_call', 'refusal', 'audio'].some((name) => given(message[name]));

const checkToolCalls = ({ tool_calls: calls }: Fields, index: number): void => {
  if (!given(calls)) return;
  if (!Array.isArray(calls)) throw wrongType(`messages[${index}].tool_calls`, 'an array', calls);
  calls.forEach((call, place) => {
    if (!isFields(call)) throw wrongType(`messages[${index}].tool_calls[${place}]`, 'an object', call);
    if (!given(call['id'])) throw missing(`messages[${index}].tool_calls[${place}].id`);
  });
};

const checkPart = (part: unknown, path: string): void => {
  if (!isFields(part)) throw wrongType(path, 'an object', part);
  const { type } = part;
  if (!given(type)) throw missing(`${path}.type`);
  if (typeof type !== 'string') throw wrongType(`${path}.type`, 'a string', type);
  if (type === 'text' && typeof part['text'] !== 'string')
    throw given(part['text']) ? wrongType(`${path}.text`, 'a string', part['text']) : missing(`${path}.text`);
  if (type.endsWith('_url')) checkSource(part[type], `${path}.${type}`, type === 'image_url');
  if (type !== 'text' && type !== 'refusal') checkAddresses(part, path);
};

/** What a part says; whatever else it has may be an address that some provider fetches. */
const WORDS: ReadonlySet<string> = new Set(['type', 'text', 'thinking', 'refusal', 'content', 'title', 'context']);
const NAMED_ADDRESS = /ur[il]s?$/i;
const ADDRESS = /^\s*(?:[a-z][a-z0-9+.-]*:\/\/|data:image\/svg)/i;

/** Providers differ in what they call a part that they fetch, and where in it its address stands. */
const checkAddresses = (value: unknown, path: string, name = ''): void => {
  if (typeof value === 'string') {
    const isNamed = NAMED_ADDRESS.test(name) && !/^data:/i.test(value);
    if (!WORDS.has(name) && (isNamed || ADDRESS.test(value)) && !isPublicAddress(value)) throw wrongSource(path);
  } else if (Array.isArray(value)) value.forEach((one, place) => checkAddresses(one, `${path}[${place}]`, name));
  else if (isFields(value))
    for (const [key, inner] of Object.entries(value)) checkAddresses(inner, `${path}.${key}`, key);
};

const wrongSource = (param: string): GatewayError =>
  wrongValue(param, 'it must be a data URL (not SVG) or an http(s) address on the public internet.');

/** Pictures, and what some providers take beside them: nothing is fetched here, and no provider is sent to where our clients may not go. */
const checkSource = (source: unknown, path: string, isKnown: boolean): void => {
  const url = isFields(source) ? source['url'] : source;
  if (isKnown && !given(source)) throw missing(path);
  if (isKnown && !(isFields(source) && typeof url === 'string')) throw wrongType(`${path}.url`, 'a string', url);
  if (typeof url === 'string' && !isPublicAddress(url)) throw wrongSource(`${path}.url`);
};
