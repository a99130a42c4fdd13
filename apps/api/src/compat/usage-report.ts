import {
  believedUsage,
  type KnownUsage,
  type ModelDescription,
  type TokenUsage,
  usageOf,
  withMoreOutput,
} from '@app/models';
import { countedTokens } from './chat-request';

/** What the provider reported where that can be; otherwise what was counted here. `characters` were produced, `unreported` of them behind the report. */
export const knownUsage = (
  report: unknown,
  model: ModelDescription,
  inputTokens: number,
  characters: number,
  unreported = 0,
): KnownUsage => {
  const believed = believedUsage(report, model, characters > 0);
  if (believed !== undefined)
    return unreported === 0
      ? { usage: believed, source: 'upstream' }
      : { usage: withMoreOutput(believed, countedTokens(unreported)), source: 'counted' };
  return { usage: usageOf({ input: inputTokens, output: countedTokens(characters) }), source: 'counted' };
};

/** A usage in the common format. */
export const chatUsage = ({
  inputTokens,
  inputTokenDetails,
  outputTokens,
  outputTokenDetails,
  totalTokens,
}: TokenUsage): object => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: totalTokens,
  prompt_tokens_details: { cached_tokens: inputTokenDetails.cacheReadTokens, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: outputTokenDetails.reasoningTokens,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
});
