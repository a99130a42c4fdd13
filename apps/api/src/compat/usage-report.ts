import {
  believedUsage,
  type KnownUsage,
  type ModelDescription,
  type TokenUsage,
  usageOf,
  withMoreOutput,
} from '@app/models';
import { countedTokens } from './chat-request';

/** What was produced of an answer. */
export interface Produced {
  readonly characters: number;
  /** Those of them that came behind the last report. */
  readonly unreported?: number;
  /** Whether it came to its end: a report in its middle may be of all of it then, where the provider made it whole and then sent it in pieces. */
  readonly finished?: boolean;
}

/** What the provider reported where that can be, with what came behind it; otherwise what was counted here. */
export const knownUsage = (
  report: unknown,
  model: ModelDescription,
  inputTokens: number,
  { characters, unreported = 0, finished = false }: Produced,
): KnownUsage => {
  const believed = believedUsage(report, model, characters > 0);
  if (believed !== undefined) {
    const behind = finished ? countedTokens(characters) - believed.outputTokens : countedTokens(unreported);
    return unreported === 0 || behind <= 0
      ? { usage: believed, source: 'upstream' }
      : { usage: withMoreOutput(believed, behind), source: 'counted' };
  }
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
