import type { ModelDescription } from './catalogue';
import { type ChatMessage, type FileContent, seesImages } from './chat-messages';
import { fileTokens } from './file-tokens';
import { imageSizeOf, imageTokens } from './image-tokens';
import type { ChatRequest, ChatResult } from './provider';
import { promptOf } from './upstream/prompt';

/** Tokens where nobody counted them: `counted` by the rule of thumb of four bytes each, and `most`, since no vocabulary has more than one for a byte. */
export interface CountedTokens {
  readonly counted: number;
  readonly most: number;
}

/** Tokens of one message of the history, with its files, calls and results of tools. */
export const messageTokens = (message: ChatMessage): CountedTokens => {
  const files: FileContent[] = [];
  let bytes = 0;
  for (const part of message.content) {
    if (part.type === 'text') bytes += Buffer.byteLength(part.text);
    else if (part.type === 'file') files.push(part);
    else bytes += Buffer.byteLength(part.name + (part.type === 'tool-call' ? jsonOf(part.input) : part.output));
  }
  return tokensOf(bytes, files);
};

/** Tokens of all that a model is given: instructions, messages, sources, tools and the schema of its answer. */
export const requestTokens = (
  request: Omit<ChatRequest, 'model' | 'signal' | 'sampling'>,
  model: ModelDescription,
): CountedTokens => {
  const given = request.messages.flatMap((message) => (message.role === 'user' ? message.content : []));
  const files = seesImages(model) ? given.filter((part) => part.type === 'file') : [];
  const words = promptOf(request, model).map((message) => {
    const { content } = message;
    if (typeof content === 'string') return content;
    const parts = (content ?? []) as readonly { readonly type: string; readonly text?: string }[];
    const calls = message.role === 'assistant' ? jsonOf(message.tool_calls) : '';
    return [...parts.map(({ text }) => text ?? ''), calls].join('');
  });
  if (request.tools !== undefined) words.push(jsonOf(request.tools));
  if (request.output !== undefined) words.push(jsonOf(request.output.schema));
  return tokensOf(Buffer.byteLength(words.join('\n')), files);
};

/** Tokens of what a model said: text, reasoning and calls of tools. */
export const answerTokens = (content: ChatResult['content']): CountedTokens =>
  tokensOf(
    content.reduce(
      (bytes, part) =>
        bytes + Buffer.byteLength(part.type === 'tool-call' ? part.name + jsonOf(part.input) : part.text),
      0,
    ),
    [],
  );

const tokensOf = (bytes: number, files: readonly FileContent[]): CountedTokens => {
  const tokens = { counted: Math.ceil(bytes / 4), most: bytes };
  for (const { mediaType, data } of files) {
    const image = mediaType.startsWith('image/') ? imageTokens(imageSizeOf(data)) : undefined;
    const { counted, most } =
      image === undefined ? fileTokens(mediaType, data.byteLength) : { counted: image, most: image };
    tokens.counted += counted;
    tokens.most += most;
  }
  return tokens;
};

const jsonOf = (value: unknown): string => (value === undefined ? '' : JSON.stringify(value));
