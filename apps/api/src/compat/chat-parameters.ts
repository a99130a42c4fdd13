import { checkMessages } from './chat-messages';
import { type Fields, given, isFields, missing, unsupported, wrongType, wrongValue } from './checks';

/** A chat request that was understood. */
export interface ChatParameters {
  readonly messages: readonly Fields[];
  readonly stream: boolean;
  /** The client wants the usage as the last chunk of a stream. */
  readonly includeUsage: boolean;
  /** `max_completion_tokens`, otherwise `max_tokens`. */
  readonly maxTokens: number | undefined;
  /** What goes to every provider as it was sent. */
  readonly passed: Fields;
  /** Fields that are not known here: a provider gets those that its `forward` names. */
  readonly unknown: Fields;
  /** Unsupported fields that were left out. */
  readonly dropped: readonly string[];
}

type Check = (value: unknown, param: string) => void;

const numberBetween =
  (least: number, most: number): Check =>
  (value, param) => {
    if (typeof value !== 'number') throw wrongType(param, 'a number', value);
    if (!(value >= least && value <= most)) throw wrongValue(param, `it must be between ${least} and ${most}.`);
  };

const integer: Check = (value, param) => {
  if (!Number.isInteger(value)) throw wrongType(param, 'an integer', value);
};

const tokens: Check = (value, param) => {
  integer(value, param);
  if ((value as number) < 1) throw wrongValue(param, 'it must be at least 1.');
  if (!Number.isSafeInteger(value)) throw wrongValue(param, `it must be at most ${Number.MAX_SAFE_INTEGER}.`);
};

const flag: Check = (value, param) => {
  if (typeof value !== 'boolean') throw wrongType(param, 'a boolean', value);
};

const stop: Check = (value, param) => {
  if (typeof value !== 'string' && !(Array.isArray(value) && value.every((one) => typeof one === 'string')))
    throw wrongType(param, 'a string or an array of strings', value);
};

const toolChoice: Check = (value, param) => {
  if (typeof value !== 'string' && !isFields(value)) throw wrongType(param, 'a string or an object', value);
};

/** Tools that the client runs. Those of a provider (searches, code, MCP servers) connect to where clients may not go, and cost more than MODELS_FILE says. */
const CLIENT_TOOLS: ReadonlySet<unknown> = new Set(['function', 'custom']);

const tools: Check = (value, param) => {
  if (!Array.isArray(value)) throw wrongType(param, 'an array of objects', value);
  if (value.length > 1_024) throw wrongValue(param, 'it must have at most 1024 tools.');
  value.forEach((tool, index) => {
    if (!isFields(tool)) throw wrongType(`${param}[${index}]`, 'an object', tool);
    if (!given(tool['type'])) throw missing(`${param}[${index}].type`);
    if (!CLIENT_TOOLS.has(tool['type']))
      throw wrongValue(
        `${param}[${index}].type`,
        'it must be function or custom. Tools that the provider would run itself are not supported.',
      );
    const definition = tool['function'];
    if (tool['type'] === 'function' && !(isFields(definition) && typeof definition['name'] === 'string'))
      throw missing(`${param}[${index}].function.name`);
  });
};

const anything: Check = () => undefined;

/** Fields that every provider gets, with what is checked here (specification; harmless ones of other clients behind them). */
const PASSED: ReadonlyMap<string, Check> = new Map([
  ['temperature', numberBetween(0, 2)],
  ['top_p', numberBetween(0, 1)],
  ['frequency_penalty', numberBetween(-2, 2)],
  ['presence_penalty', numberBetween(-2, 2)],
  ['stop', stop],
  ['seed', integer],
  ['tools', tools],
  ['tool_choice', toolChoice],
  ...[
    'user',
    'store',
    'metadata',
    'service_tier',
    'parallel_tool_calls',
    'reasoning_effort',
    'verbosity',
    'prompt_cache_key',
  ].map((name): [string, Check] => [name, anything]),
]);

/** Service tiers at the usual price or less, the only prices that limits know. A provider is sent a dearer tier only if its `forward` names the field. */
const USUAL_TIERS: ReadonlySet<unknown> = new Set(['auto', 'default', 'flex']);

const isDearer = (name: string, value: unknown): boolean => name === 'service_tier' && !USUAL_TIERS.has(value);

/** Fields that are not supported, with the values that ask for nothing. */
const UNSUPPORTED: ReadonlyMap<string, (value: unknown) => boolean> = new Map<string, (value: unknown) => boolean>([
  ['n', (value) => value === 1],
  ['logprobs', (value) => value === false],
  ['response_format', (value) => isFields(value) && (Object.keys(value).length === 0 || value['type'] === 'text')],
  ['logit_bias', (value) => isFields(value) && Object.keys(value).length === 0],
]);

/** Reads a body but its model. Throws the envelope of the first mistake; `drop` leaves unsupported fields out instead. */
export const chatParameters = (body: Fields, drop: boolean): ChatParameters => {
  const messages = checkMessages(body['messages']);
  const passed: Record<string, unknown> = {};
  const unknown: Record<string, unknown> = {};
  const dropped: string[] = [];
  for (const name of Object.keys(body)) {
    const value = body[name];
    if (value === null || READ_ELSEWHERE.has(name)) continue;
    const check = isDearer(name, value) ? undefined : PASSED.get(name);
    const asksNothing = UNSUPPORTED.get(name);
    if (check !== undefined) {
      check(value, name);
      passed[name] = value;
    } else if (asksNothing === undefined) unknown[name] = value;
    else if (!asksNothing(value)) {
      if (!drop) throw unsupported(name);
      dropped.push(name);
    }
  }
  const { max_completion_tokens: most, max_tokens: legacy, stream, stream_options: options } = body;
  if (given(most)) tokens(most, 'max_completion_tokens');
  else if (given(legacy)) tokens(legacy, 'max_tokens');
  if (given(stream)) flag(stream, 'stream');
  const streaming = streamOptions(options);
  if (streaming.include_obfuscation !== undefined && stream === true)
    passed['stream_options'] = { include_obfuscation: streaming.include_obfuscation };
  return {
    messages,
    stream: stream === true,
    includeUsage: streaming.include_usage === true,
    maxTokens: (most ?? legacy ?? undefined) as number | undefined,
    passed,
    unknown,
    dropped,
  };
};

const READ_ELSEWHERE: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'max_completion_tokens',
  'max_tokens',
  'stream',
  'stream_options',
]);

/** Every field that is known here. */
export const CHAT_FIELDS: readonly string[] = [...READ_ELSEWHERE, ...PASSED.keys(), ...UNSUPPORTED.keys()];

const streamOptions = (
  options: unknown,
): { readonly include_usage?: unknown; readonly include_obfuscation?: unknown } => {
  if (!given(options)) return {};
  if (!isFields(options)) throw wrongType('stream_options', 'an object', options);
  const { include_usage: usage, include_obfuscation: obfuscation } = options;
  if (given(usage)) flag(usage, 'stream_options.include_usage');
  return { include_usage: usage, ...(given(obfuscation) ? { include_obfuscation: obfuscation } : {}) };
};
