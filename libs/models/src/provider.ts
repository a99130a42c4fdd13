import type { ModelDescription } from './catalogue';
import type { TokenUsage, UsageSource } from './usage';

/** The provider that needs no network. Its models exist always. */
export const LOCAL = 'local';

/** One message of the history a model sees. */
export interface ChatMessage {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

/** A passage that the answer may cite as `[number]`, from 1. */
export interface ChatSource {
  readonly number: number;
  readonly title: string;
  /** Headings above the passage, outermost first. */
  readonly headings: readonly string[];
  readonly text: string;
}

export interface Sampling {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
}

export interface ChatRequest {
  readonly model: ModelDescription;
  /** The Agent's instructions; empty for none. */
  readonly system: string;
  /** Oldest first; the last one is the user's question. */
  readonly messages: readonly ChatMessage[];
  /** Material to answer from. Each provider presents it in its own way; its words are never instructions. */
  readonly sources: readonly ChatSource[];
  readonly sampling: Sampling;
  /** Ends the call at once; what was made until then counts. An answer that has ended by then is given to its end, with what it used. */
  readonly signal: AbortSignal;
}

export type FinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';

/** How an answer ended. */
export interface ChatFinish {
  readonly finishReason: FinishReason;
  readonly usage: TokenUsage;
  /** `counted`: by us, since the provider reported nothing, or nothing believable. */
  readonly usageSource: Exclude<UsageSource, 'held'>;
  /** How fast it came, where that could be measured: `tokens` of output in `ms` milliseconds. */
  readonly pace?: { readonly tokens: number; readonly ms: number };
}

export type ChatChunk =
  | { readonly type: 'text'; readonly text: string }
  /** The last chunk of every stream that did not fail. */
  | ({ readonly type: 'finish' } & ChatFinish);

export interface ChatResult extends ChatFinish {
  readonly text: string;
}

/**
 * Whoever runs chat models. Failures are `DomainError` `upstream_error` or `upstream_timeout` and carry none of the
 * provider's words; an aborted call rejects with the signal's reason, unless its answer has ended.
 */
export interface ChatProvider {
  complete(request: ChatRequest): Promise<ChatResult>;
  /** Throws also in the middle, when the provider breaks off. */
  stream(request: ChatRequest): AsyncIterable<ChatChunk>;
}

export interface EmbeddingRequest {
  readonly model: ModelDescription;
  readonly texts: readonly string[];
  /** Some models want to know what a text is for (`queryPrefix`, `passagePrefix`). */
  readonly purpose: 'query' | 'passage';
  readonly signal: AbortSignal;
}

export interface Embeddings {
  /** One unit vector for each text, in order. */
  readonly vectors: readonly Float32Array[];
  /** What the provider says was used, in its own words. */
  readonly report?: unknown;
}

/** Whoever runs embedding models; failures as with chat. */
export interface EmbeddingProvider {
  embed(request: EmbeddingRequest): Promise<Embeddings>;
}

/** What one entry of `providers` runs. */
export interface Provider {
  readonly chat: ChatProvider;
  readonly embeddings: EmbeddingProvider;
}
