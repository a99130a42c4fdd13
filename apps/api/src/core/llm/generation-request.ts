import type { AgentAccess, Caller } from '@app/access';
import { type Attachments, conversationDecider, type Generation } from '@app/conversations';
import { InvalidInput, type JsonText, type OutcomeTogether } from '@app/http';
import { userDecider } from '@app/identity';
import { isErased, reject, streamOf } from '@app/kernel';
import {
  type Catalogue,
  type ChatMessage,
  type FileContent,
  imageType,
  type ModelDescription,
  type Sampling,
  seesImages,
  type TextContent,
  userText,
} from '@app/models';
import type { GenerationCall } from './generation-calls';
import type { GenerationFields } from './generation-schemas';

type Config = AgentAccess['agent']['version']['config'];
type Given = NonNullable<GenerationFields['messages']>[number];

/** A request as the Agent may be asked it. Rejects `unsupported_parameter`, `model_not_available` and wrong input. */
export const generationOf = async (
  asked: GenerationFields,
  { agent: { agentId, spaceId, agent }, requester, signal }: GenerationCall,
  catalogue: Catalogue,
  attachments: Pick<Attachments, 'shown'>,
): Promise<Generation> => {
  const { config } = agent.version;
  const { prompt, messages, conversationId, maxOutputTokens, stopSequences, seed, useKnowledge } = asked;
  assertLastAsks(messages ?? []);
  const model = chatModelOf(config, catalogue, asked.model);
  if (useKnowledge === true && !config.knowledgeEnabled)
    reject('unsupported_parameter', { path: 'useKnowledge', reason: 'knowledge_off' });
  const shown = (fileId: string, path: string) =>
    attachments.shown({ userId: requester.userId, agentId }, fileId, path, seesImages(model));
  return {
    agent: { agentId, spaceId, systemPrompt: isErased(config.systemPrompt) ? '' : config.systemPrompt },
    requester,
    model: model.key,
    messages:
      messages === undefined
        ? [userText(prompt ?? '')]
        : await Promise.all(messages.map((each, index) => chatMessage(each, index, model, shown))),
    fileIds: (messages ?? []).flatMap(({ content }) => fileIdsIn(content)),
    ...(conversationId === undefined ? {} : { conversationId }),
    usesKnowledge: useKnowledge ?? config.knowledgeEnabled,
    sampling: samplingOf(config, asked),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(stopSequences === undefined ? {} : { stopSequences }),
    ...(seed === undefined ? {} : { seed }),
    signal,
  };
};

const assertLastAsks = (messages: readonly Given[]): void => {
  const last = messages.length - 1;
  if (messages[last]?.role === 'assistant')
    throw invalidField(`messages[${last}].role`, 'Must be user: the last message is answered.');
};

/** The model that was asked for, or the one that `GET .../models` calls the default. */
export const chatModelOf = (config: Config, catalogue: Catalogue, asked: string | undefined): ModelDescription => {
  const { models, defaultModel } = catalogue;
  const usable = (key: string) => usableModel(config, catalogue, key);
  if (asked !== undefined)
    return usable(asked) ?? reject('model_not_available', { kind: 'chat', reason: 'not_allowed' });
  return usable(config.model) ?? models.get(defaultModel) ?? reject('model_not_available', { kind: 'chat' });
};

/** A chat model that an Agent may use; undefined for others. */
export const usableModel = (
  { allowedModels }: Pick<Config, 'allowedModels'>,
  { models }: Pick<Catalogue, 'models'>,
  key: string,
): ModelDescription | undefined => {
  const model = models.get(key);
  return model?.kind === 'chat' && (allowedModels?.includes(key) ?? true) ? model : undefined;
};

/** The Agent's controls, and in their place what the request says of those that are on. One that is off reaches no provider. */
const samplingOf = ({ sampling }: Config, asked: GenerationFields): Sampling => {
  const names = ['temperature', 'topP', 'topK'] as const;
  const off = names.find((name) => !sampling[name].enabled && asked[name] !== undefined);
  if (off !== undefined) reject('unsupported_parameter', { path: off, reason: 'switched_off' });
  const values = names.map((name) => [name, sampling[name].enabled ? (asked[name] ?? sampling[name].value) : null]);
  return Object.fromEntries(values.filter(([, value]) => value !== null)) as Sampling;
};

/** A file by its id, as it is shown to the model. */
type Shown = (fileId: string, path: string) => Promise<FileContent | TextContent>;

const chatMessage = async (
  { role, content }: Given,
  index: number,
  model: ModelDescription,
  shown: Shown,
): Promise<ChatMessage> => {
  const path = `messages[${index}].content`;
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  if (role === 'user') {
    const given = parts.map(async (part, at) =>
      part.type === 'text' ? part : fileOf(part, `${path}[${at}]`, model, shown),
    );
    return { role, content: await Promise.all(given) };
  }
  const file = parts.findIndex(({ type }) => type === 'file');
  if (file >= 0) throw invalidField(`${path}[${file}]`, 'Must be text: only users attach files.');
  return { role: 'assistant', content: parts as readonly TextContent[] };
};

const fileIdsIn = (content: Given['content']): readonly string[] =>
  typeof content === 'string'
    ? []
    : content.flatMap((part) => (part.type === 'file' && part.fileId !== undefined ? [part.fileId] : []));

type GivenFile = Extract<Exclude<Given['content'], string>[number], { type: 'file' }>;

const fileOf = async (
  { fileId, mediaType, url, filename }: GivenFile,
  path: string,
  model: ModelDescription,
  shown: Shown,
): Promise<FileContent | TextContent> => {
  if (fileId !== undefined && url === undefined) return shown(fileId, path);
  if (fileId !== undefined || url === undefined) throw invalidField(path, 'Must have either fileId or url.');
  if (mediaType === undefined) throw invalidField(`${path}.mediaType`, 'Must say what the image is.');
  if (!seesImages(model)) reject('unsupported_parameter', { path, reason: 'sees_nothing' });
  const data = dataOf(url, mediaType);
  if (data === undefined) throw invalidField(`${path}.url`, `Must be a data URL such as data:${mediaType};base64,…`);
  // What its bytes are, whatever its address calls it.
  const actual = imageType(data);
  if (actual === undefined) throw invalidField(`${path}.url`, 'Must be an image: PNG, JPEG, WebP or GIF.');
  return { type: 'file', mediaType: actual, data, ...(filename === undefined ? {} : { filename }) };
};

/** The bytes of a data URL of one media type; undefined for what is none. */
export const dataOf = (url: string, mediaType: string): Buffer | undefined => {
  const head = `data:${mediaType};base64,`.toLowerCase();
  return url.slice(0, head.length).toLowerCase() === head ? bytesIn(url.slice(head.length)) : undefined;
};

/** The bytes of a text in base64; undefined where it is none, or says nothing. */
export const bytesIn = (text: string): Buffer | undefined => {
  const bytes = Buffer.from(text, 'base64');
  // What is no base64 is passed over: then fewer come out than the text has.
  const digits = text.replace(/={1,2}$/, '');
  return bytes.length > 0 && bytes.length === Math.floor((digits.length * 3) / 4) ? bytes : undefined;
};

export const invalidField = (path: string, message: string): InvalidInput =>
  new InvalidInput('invalid_body', [{ path, code: 'invalid_value', message }]);

/** A longer answer is not kept for repeats, bytes: they are generated anew. */
const LONGEST_KEPT = 8 * 1024 ** 2;
/** Nor one that was made from more messages and files: their keys are named beside it. */
const MOST_SOURCES = 2_000;

/**
 * How what was generated is answered, and kept for a repeat of the request: under the key of the conversation that it was made from, or of its
 * user, and under those of the messages and files in it. It may say what they say, and goes with the first that is deleted.
 */
export const generated = (
  { userId }: Pick<Caller, 'userId'>,
  json: JsonText,
  { conversationId, madeFrom = [] }: { conversationId?: string | undefined; madeFrom?: readonly string[] } = {},
): OutcomeTogether => ({
  views: [],
  keptWith:
    conversationId === undefined
      ? streamOf(userDecider.category, userId)
      : streamOf(conversationDecider.category, conversationId),
  madeFrom,
  json,
  kept: json.text.length > LONGEST_KEPT || madeFrom.length > MOST_SOURCES ? null : json,
});
