export { type ModelDescription, type Catalogue, readCatalogue } from './catalogue';
export {
  type JsonSchema,
  type TextContent,
  type FileContent,
  type ToolCall,
  type ToolResult,
  type ChatMessage,
  type ToolDescription,
  userText,
  textOfMessage,
  callsTools,
  seesImages,
} from './chat-messages';
export { type CountedTokens, messageTokens, requestTokens } from './chat-tokens';
export { fileTokens } from './file-tokens';
export { imageTokens, imageSizeOf } from './image-tokens';
export { LocalEmbeddings, type OpenedEmbeddings } from './local/local-embeddings';
export { relevancesAtOnce } from './local/relevance';
export { type Sentence, sentencesOf } from './threads';
export { termsOf } from './local/terms';
export {
  type Media,
  ASPECT_RATIOS,
  RESOLUTIONS,
  type ImageRequest,
  type Images,
  type Transcription,
  type MediaProvider,
} from './media';
export { modelDecider } from './model.decider';
export { recordedModel, modelEvents, type ModelEvent } from './model.events';
export { type ProviderStatus, Models } from './models';
export { ModelsModule } from './models.module';
export { type BrokenOffCall, OutputRates } from './output-rates';
export { pricingSchema, type Pricing, billed, costOf, highestCostOf } from './pricing';
export {
  LOCAL,
  type ChatSource,
  type Sampling,
  type ModelRequest,
  type ChatRequest,
  type FinishReason,
  type ChatChunk,
  type ChatResult,
  type EmbeddingRequest,
  type Vector,
  type RerankRequest,
  type Provider,
  type ChatProvider,
  type EmbeddingProvider,
} from './provider';
export { recordCatalogue } from './record-catalogue';
export { isAsTrusted } from './security-tier';
export { UpstreamFailure, isUpstreamFailure, upstreamRejection } from './upstream/failure';
export { imageType } from './upstream/media-types';
export { sourceText } from './upstream/prompt';
export { believedUsage, noAnswer } from './upstream/reported-usage';
export { type BodyReader, Exchange } from './upstream/exchange';
export { LineEnds } from './upstream/line-ends';
export { type Route, type Attempt, UpstreamCall } from './upstream/upstream-call';
export { DIMENSIONS_MISMATCH, vectorsIn } from './upstream/vectors';
export {
  type TokenUsage,
  unitUsage,
  type UnitUsage,
  invocationUsage,
  type InvocationUsage,
  shownInvocationUsage,
  type ShownUsage,
  shownUsage,
  type UsageSource,
  USAGE_MS,
  type KnownUsage,
  withMoreOutput,
  usageOf,
  mostTokens,
  estimatedTokens,
  callWindow,
} from './usage';
