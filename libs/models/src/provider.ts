import type { ModelDescription } from './catalogue';
import type {
  ChatMessage,
  JsonSchema,
  ReasoningContent,
  TextContent,
  ToolCall,
  ToolDescription,
} from './chat-messages';
import type { UpstreamFailure } from './upstream/failure';
import type { Route } from './upstream/upstream-call';
import type { TokenUsage, UsageSource } from './usage';

/** The provider that needs no network. Its models exist always. */
export const LOCAL = 'local';

/** A passage that the answer may cite as `[number]`, from 1. */
export interface ChatSource {
  readonly number: number;
  readonly title: string;
  /** Headings above the passage, outermost first. */
  readonly headings: readonly string[];
  readonly text: string;
}

/** How words are drawn, in the terms of the chat-completions format; absent: as the provider likes it. */
export interface Sampling {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
}

/** What every request names. */
export interface ModelRequest {
  /** The model asked for; its fallback may answer. */
  readonly model: ModelDescription;
  /** Ends the call at once; what was made until then counts. */
  readonly signal: AbortSignal;
  /** Waited for where a provider broke off what it bills, before it or a fallback is asked once more: that is another call. What it throws ends all. */
  readonly onBrokenOff?: (failure: UpstreamFailure) => Promise<void>;
}

/** Asks for an answer in a conversation. */
export interface ChatRequest extends ModelRequest {
  /** The Agent's instructions; empty for none. */
  readonly system: string;
  /** Oldest first. The last one of the user is the question; calls and results of tools may follow it. */
  readonly messages: readonly ChatMessage[];
  /** Material to answer from. Each provider presents it in its own way; its words are never instructions. */
  readonly sources: readonly ChatSource[];
  readonly sampling: Sampling;
  /** Tools that the model may call. One without the tag `tools` is given none, and reads what tools said before as text. */
  readonly tools?: readonly ToolDescription[];
  /** The answer is to be JSON under this schema. Nobody has checked that it is. */
  readonly output?: { readonly name?: string; readonly schema: JsonSchema };
  /** Tokens of the answer at most, reasoning included. */
  readonly maxOutputTokens?: number;
  /** The answer ends before the first of these. */
  readonly stopSequences?: readonly string[];
  /** A provider that can gives the same answer for the same seed. */
  readonly seed?: number;
  /** Asked when a stream broke off in the middle: whether another answer may take its place, since nobody has heard a word of it. By default none may. */
  readonly mayRepeat?: () => boolean;
  /** Told the body of each request to a provider over the network, as it is sent; of a local model what it is given, as JSON. */
  readonly onSent?: (body: string) => void;
  /** The sources are to be summarised, without citations: a local model extracts what they say most. By default the question is answered from them. */
  readonly task?: 'summary';
}

/** Why an answer ended: `stop` and `tool-calls` by the model itself, `length` at a limit of tokens. */
export type FinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';

/** How an answer ended. */
export interface ChatFinish {
  /** The model that answered: the one asked for, or its fallback. */
  readonly model: ModelDescription;
  readonly finishReason: FinishReason;
  readonly usage: TokenUsage;
  /** `counted`: by us, since the provider reported nothing, or nothing believable. */
  readonly usageSource: Exclude<UsageSource, 'held'>;
  /** How fast it came, where that could be measured: `tokens` of output in `ms` milliseconds. */
  readonly pace?: { readonly tokens: number; readonly ms: number };
}

/** One piece of a streamed answer. */
export type ChatChunk =
  | TextContent
  | ReasoningContent
  /** Whole: its arguments have come to their end. */
  | ToolCall
  /** All that was said in this stream is void: it broke off, and is asked for once more (`mayRepeat`). */
  | { readonly type: 'again' }
  /** The last chunk of every stream that did not fail. */
  | ({ readonly type: 'finish' } & ChatFinish);

/** A whole answer. */
export interface ChatResult extends ChatFinish {
  /** In the order of their first words; pieces of one sort are one. */
  readonly content: readonly (TextContent | ReasoningContent | ToolCall)[];
}

/** Fields of a client's own request: a provider gets those that its `forward` names. */
type ForwardedFields = Readonly<Record<string, unknown>>;

/** Asks for a vector of each text. */
export interface EmbeddingRequest extends ModelRequest {
  readonly texts: readonly string[];
  /**
   * What Knowledge embeds the texts for: they get the model's `queryPrefix` or `passagePrefix`, and the vectors are
   * Float32Arrays of length one. A fallback stands in only where it is the same model elsewhere (equal `modelId`), since vectors of two models cannot be compared.
   * Absent for a client of the gateway, who gets vectors of the texts as they are.
   */
  readonly purpose?: 'query' | 'passage';
  /**
   * Where the texts are of a document that nobody waits for: how many of it are embedded in all, call by call. A model that runs here makes them
   * beside what somebody waits for, and may take a second core for many.
   */
  readonly inDocument?: number;
  /** Who asks, as a client names them to the provider. */
  readonly user?: string;
  readonly forwarded?: ForwardedFields;
}

/** Numbers, that came as such or as base64 of float32 little endian. */
export type Vector = readonly number[] | Float32Array;

/** The vectors of some texts. */
export interface Embeddings {
  /** The model that answered. */
  readonly model: ModelDescription;
  /** One for each text, in order, all of one length. */
  readonly vectors: readonly Vector[];
  /** What its provider reported; absent where that was nothing, or nothing believable. */
  readonly usage?: TokenUsage;
}

/** Asks how well each document answers a query. */
export interface RerankRequest extends ModelRequest {
  readonly query: string;
  readonly documents: readonly string[];
  readonly forwarded?: ForwardedFields;
}

/** Scores of documents, on a scale of the model's own: the higher, the better. */
export interface Ranking {
  /** The model that answered. */
  readonly model: ModelDescription;
  /** How well each document answers the query, in order of the documents. */
  readonly scores: readonly number[];
  /** What its provider reported; absent where that was nothing, or nothing believable. */
  readonly usage?: TokenUsage;
}

/**
 * Whoever runs models: for Agents, Knowledge and the gateway alike. A call that fails is repeated, goes to the model's fallback,
 * and leaves alone a provider that failed too often, as long as nobody has a word of its answer (`UpstreamCall`). Chats and vectors for
 * Knowledge go to no fallback whose security tier is trusted less.
 *
 * Every method rejects with an `UpstreamFailure`, which carries none of the provider's words; a call that was ended by its
 * signal, with one of the kind `aborted` or with the signal's reason.
 */
export interface Provider {
  /** A whole answer. */
  complete(request: ChatRequest): Promise<ChatResult>;
  /** An answer piece by piece. Throws also in the middle. An answer that has ended by then is given to its end, with what it used, whoever leaves. */
  stream(request: ChatRequest): AsyncIterable<ChatChunk>;
  embed(request: EmbeddingRequest): Promise<Embeddings>;
  rerank(request: RerankRequest): Promise<Ranking>;
  /** The model and its fallback, which may answer in its place. */
  mayAnswer(model: ModelDescription): readonly ModelDescription[];
  /** Where chats in the common wire format are passed through to, byte by byte (`UpstreamCall`); none for a local model. */
  routes(model: ModelDescription): readonly Route[];
}

/** The part of a provider that chats. */
export type ChatProvider = Pick<Provider, 'complete' | 'stream'>;
/** The part of a provider that embeds. */
export type EmbeddingProvider = Pick<Provider, 'embed'>;
