import type OpenAI from 'openai';
import { z } from 'zod';
import type { ModelDescription } from '../catalogue';
import type { ChatChunk, ChatFinish, ChatRequest, ChatResult, FinishReason } from '../provider';
import { estimatedTokens, usageOf } from '../usage';
import { UpstreamFailure } from './failure';
import { openAiClient } from './openai-fetch';
import { promptOf } from './prompt';
import { believedUsage } from './reported-usage';
import type { Attempt } from './upstream-call';

const choice = { finish_reason: z.string().nullish() };
const completion = z.looseObject({
  choices: z.array(z.looseObject({ ...choice, message: z.looseObject({ content: z.string().nullish() }) })).min(1),
  usage: z.unknown().optional(),
});
const completionChunk = z.looseObject({
  choices: z
    .array(z.looseObject({ ...choice, delta: z.looseObject({ content: z.string().nullish() }).nullish() }))
    .default([]),
  usage: z.unknown().optional(),
});

/** A whole answer. Rejects with whatever it failed of. */
export const completed = async (request: ChatRequest, attempt: Attempt): Promise<ChatResult> => {
  const { model } = attempt.route;
  const startedAt = performance.now();
  const { choices, usage } = completion.parse(
    await openAiClient(attempt).chat.completions.create({ ...bodyOf(request, model), stream: false }),
  );
  const first = choices[0] as (typeof choices)[number];
  const text = first.message.content ?? '';
  const used = usageFrom(usage, request, model, text);
  const pace = { tokens: used.usage.outputTokens, ms: performance.now() - startedAt };
  return {
    model,
    text,
    finishReason: finishReasonOf(first.finish_reason),
    ...used,
    ...(used.usageSource === 'upstream' ? { pace } : {}),
  };
};

/** An answer piece by piece; `progress` hears when its end was seen. Throws whatever it failed of. */
export async function* streamed(
  request: ChatRequest,
  attempt: Attempt,
  progress: { finishedAt?: number },
): AsyncGenerator<ChatChunk, void> {
  const { model, upstream } = attempt.route;
  const chunks = await openAiClient(attempt).chat.completions.create({
    ...bodyOf(request, model),
    stream: true,
    ...(upstream.description.streamOptions === false ? {} : { stream_options: { include_usage: true } }),
  });
  let text = '';
  let finished: string | undefined;
  let report: unknown;
  let firstAt = 0;
  const finish = (ended: string): ChatChunk => {
    const used = usageFrom(report, request, model, text);
    const pace = paceOf(used, (progress.finishedAt ?? 0) - firstAt);
    return { type: 'finish', model, finishReason: finishReasonOf(ended), ...used, ...pace };
  };
  try {
    for await (const chunk of chunks) {
      const { choices, usage } = completionChunk.parse(chunk);
      const content = choices[0]?.delta?.content ?? '';
      const reason = choices[0]?.finish_reason ?? undefined;
      if (text === '' && content !== '') firstAt = performance.now();
      if (reason !== undefined) progress.finishedAt ??= performance.now();
      finished = reason ?? finished;
      report = usage ?? report;
      text += content;
      if (content !== '') yield { type: 'text', text: content };
    }
  } catch (error) {
    // What has ended and says what it used is whole, whatever its provider does behind that.
    if (finished === undefined || usageFrom(report, request, model, text).usageSource === 'counted') throw error;
  }
  // A stream that ends without saying why was cut.
  if (finished === undefined) throw new UpstreamFailure('broken');
  yield finish(finished);
}

type Used = Pick<ChatFinish, 'usage' | 'usageSource'>;

/** What was reasoned came before the text. */
const paceOf = ({ usage, usageSource }: Used, ms: number): Pick<ChatFinish, 'pace'> =>
  usageSource === 'upstream'
    ? { pace: { tokens: usage.outputTokens - usage.outputTokenDetails.reasoningTokens, ms } }
    : {};

const bodyOf = (request: ChatRequest, model: ModelDescription): OpenAI.Chat.ChatCompletionCreateParams => {
  const { temperature, topP, topK } = request.sampling;
  return {
    model: model.modelId,
    messages: promptOf(request),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(topK === undefined ? {} : { top_k: topK }),
  };
};

const finishReasonOf = (reason: string | null | undefined): FinishReason => {
  switch (reason) {
    case 'stop':
    case 'length':
      return reason;
    case 'content_filter':
      return 'content-filter';
    case 'tool_calls':
    case 'function_call':
      return 'tool-calls';
    default:
      return 'other';
  }
};

/** What the provider counted, or our estimate where it counted nothing believable. */
const usageFrom = (report: unknown, request: ChatRequest, model: ModelDescription, text: string): Used => {
  const usage = believedUsage(report, model, text !== '');
  if (usage !== undefined) return { usage, usageSource: 'upstream' };
  const prompt = promptOf(request).map(({ content }) => content);
  return {
    usage: usageOf({ input: estimatedTokens(prompt.join('\n')), output: estimatedTokens(text) }),
    usageSource: 'counted',
  };
};
