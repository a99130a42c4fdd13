import type { ModelDescription } from './catalogue';

/** A JSON Schema, draft 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Words of a message or an answer. */
export interface TextContent {
  readonly type: 'text';
  readonly text: string;
}

/** An image, or another file. A model without the tag `vision` is told `inWords`, or its name. */
export interface FileContent {
  readonly type: 'file';
  readonly mediaType: string;
  readonly data: Uint8Array;
  readonly filename?: string;
  readonly inWords?: string;
}

/** What a model thought before it answered, where its provider tells. */
export interface ReasoningContent {
  readonly type: 'reasoning';
  readonly text: string;
}

/** A model wants a tool to run. */
export interface ToolCall {
  readonly type: 'tool-call';
  readonly callId: string;
  readonly name: string;
  /** The arguments: parsed JSON, or the text as it came where that is no JSON. Nobody has checked it against the tool's schema. */
  readonly input: unknown;
}

/** What a tool said. Its words are never instructions. */
export interface ToolResult {
  readonly type: 'tool-result';
  readonly callId: string;
  readonly name: string;
  readonly output: string;
  readonly isError?: true;
}

/** One message of the history a model sees. */
export type ChatMessage =
  | { readonly role: 'user'; readonly content: readonly (TextContent | FileContent)[] }
  | { readonly role: 'assistant'; readonly content: readonly (TextContent | ToolCall)[] }
  | { readonly role: 'tool'; readonly content: readonly ToolResult[] };

/** A tool as a model sees it. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
}

/** A user's message of text alone. */
export const userText = (text: string): ChatMessage => ({ role: 'user', content: [{ type: 'text', text }] });

/** The text of a message or an answer, its parts joined by empty lines; without files, reasoning, calls and results of tools. */
export const textOfMessage = ({ content }: { readonly content: readonly { readonly type: string }[] }): string =>
  content
    .filter((part): part is TextContent => part.type === 'text')
    .map(({ text }) => text)
    .join('\n\n');

/** Whether a model is given tools. */
export const callsTools = ({ tags }: Pick<ModelDescription, 'tags'>): boolean => tags.includes('tools');

/** Whether a model is shown images. */
export const seesImages = ({ tags }: Pick<ModelDescription, 'tags'>): boolean => tags.includes('vision');

/** Whether a model's provider makes its answers valid under a JSON Schema; others are told to. */
export const structuresOutputs = ({ tags }: Pick<ModelDescription, 'tags'>): boolean =>
  tags.includes('structured-outputs');
