import type OpenAI from 'openai';
import { z } from 'zod';
import type { ModelDescription } from '../catalogue';
import { callsTools, structuresOutputs } from '../chat-messages';
import { answerTokens, requestTokens } from '../chat-tokens';
import type { ChatChunk, ChatFinish, ChatRequest, ChatResult, FinishReason } from '../provider';
import { usageOf, withMoreOutput } from '../usage';
import { AnswerContent, spoken } from './answer-content';
import { failureOf, UpstreamFailure } from './failure';
import { openAiClient } from './openai-fetch';
import { promptOf } from './prompt';
import { believedUsage, noAnswer } from './reported-usage';
import { streamedEvents } from './streamed-events';
import type { Attempt } from './upstream-call';

const choice = { finish_reason: z.string().nullish() };
const completion = z.object({
  choices: z.array(z.object({ ...choice, message: spoken })).min(1),
  usage: z.unknown().optional(),
});
const completionChunk = z.object({
  choices: z.array(z.object({ ...choice, delta: spoken.nullish() })).default([]),
  usage: z.unknown().optional(),
});

/** A whole answer. Rejects with whatever it failed of. */
export const completed = async (request: ChatRequest, attempt: Attempt): Promise<ChatResult> => {
  const { model } = attempt.route;
  const startedAt = performance.now();
  const body = { ...bodyOf(request, model), stream: false } as const;
  const said: unknown = await openAiClient(attempt, request.onSent).chat.completions.create(body);
  const read = completion.safeParse(said);
  if (!read.success) throw noAnswer((said as { usage?: unknown } | null)?.usage, model, failureOf(read.error));
  const { choices, usage } = read.data;
  const first = choices[0] as (typeof choices)[number];
  attempt.report();
  const answer = new AnswerContent();
  answer.push(first.message);
  if (answer.isBroken) throw noAnswer(usage, model);
  const used = usageFrom(new LastReport(usage), request, model, answer);
  const pace = { tokens: used.usage.outputTokens, ms: performance.now() - startedAt };
  return {
    model,
    content: answer.content,
    finishReason: finishReasonOf(first.finish_reason, answer),
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
  const { model } = attempt.route;
  const body = streamedBody(request, attempt);
  request.onSent?.(body);
  const chunks = streamedEvents(await attempt.send('chat/completions', body));
  const answer = new AnswerContent();
  let finished: string | undefined;
  const report = new LastReport(undefined, (usage) => believedUsage(usage, model, !answer.isEmpty) !== undefined);
  let firstAt: number | undefined;
  const finish = (ended: string): ChatChunk => {
    const used = usageFrom(report, request, model, answer);
    const ms = firstAt === undefined ? 0 : (progress.finishedAt ?? 0) - firstAt;
    return { type: 'finish', model, finishReason: finishReasonOf(ended, answer), ...used, ...paceOf(used, ms) };
  };
  try {
    for await (const chunk of chunks) {
      const { choices, usage } = completionChunk.parse(chunk);
      const { delta, finish_reason: reason } = choices[0] ?? {};
      const pieces = answer.push(delta ?? {});
      const isCalling = (delta?.tool_calls ?? []).length > 0;
      // Nobody has a word of them before the end, but they are made, and billed.
      if (isCalling) attempt.report();
      if (isCalling || pieces.some(({ type }) => type === 'text')) firstAt ??= performance.now();
      if (typeof reason === 'string') progress.finishedAt ??= performance.now();
      finished = reason ?? finished;
      report.take(usage, isCalling || pieces.length > 0);
      // `yield*` would wrap each piece in promises of its own.
      for (const piece of pieces) yield piece;
    }
  } catch (error) {
    // What has ended and says what it used is whole, whatever its provider does behind that.
    if (finished === undefined || usageFrom(report, request, model, answer).usageSource === 'counted') throw error;
  }
  const ended = endOf(finished, answer, () => noAnswer(report.said, model));
  yield* answer.toolCalls();
  yield finish(ended);
}

/** Why an answer ended. Throws an `UpstreamFailure` for what is none; a stream that ends without saying why was cut. */
const endOf = (finished: string | undefined, answer: AnswerContent, none: () => UpstreamFailure): string => {
  if (answer.isBroken) throw none();
  if (finished === undefined) throw answer.isEmpty ? none() : new UpstreamFailure('broken');
  return finished;
};

const streamedBody = (request: ChatRequest, { route: { model, upstream } }: Attempt): string =>
  JSON.stringify({
    ...bodyOf(request, model),
    stream: true,
    ...(upstream.description.streamOptions === false ? {} : { stream_options: { include_usage: true } }),
  });

/** The last word of a provider on what an answer used, and whether more was said of the answer behind it. */
class LastReport {
  isBehind = false;

  /** `believes`: whether a report can be. One that cannot takes no place of another: some say what they used, and then nothing or zeros. */
  constructor(
    public said?: unknown,
    private readonly believes = (_usage: unknown): boolean => true,
  ) {}

  take(usage: unknown, isMoreSaid: boolean): void {
    const isReport = usage !== undefined && usage !== null && (this.said === undefined || this.believes(usage));
    if (isReport) this.said = usage;
    this.isBehind = !isReport && (this.isBehind || isMoreSaid);
  }
}

type Used = Pick<ChatFinish, 'usage' | 'usageSource'>;

/** What was reasoned came before the text. */
const paceOf = ({ usage, usageSource }: Used, ms: number): Pick<ChatFinish, 'pace'> =>
  usageSource === 'upstream'
    ? { pace: { tokens: usage.outputTokens - usage.outputTokenDetails.reasoningTokens, ms } }
    : {};

const bodyOf = (request: ChatRequest, model: ModelDescription): OpenAI.Chat.ChatCompletionCreateParams => {
  const { sampling, tools, output, maxOutputTokens, stopSequences, seed } = request;
  const { temperature, topP, topK } = sampling;
  const named = {
    temperature,
    top_p: topP,
    top_k: topK,
    seed,
    [model.maxTokensField]: maxOutputTokens,
    stop: stopSequences === undefined || stopSequences.length === 0 ? undefined : [...stopSequences],
    tools:
      tools === undefined || tools.length === 0 || !callsTools(model)
        ? undefined
        : tools.map(({ name, description, inputSchema }) => ({
            type: 'function',
            function: { name, description, parameters: inputSchema },
          })),
    // Not `strict`: that allows a part of JSON Schema alone, and every answer is checked anyway.
    response_format:
      output === undefined || !structuresOutputs(model)
        ? undefined
        : { type: 'json_schema', json_schema: { name: output.name ?? 'answer', schema: output.schema } },
  };
  const given = Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
  return { model: model.modelId, messages: [...promptOf(request, model)], ...given };
};

/** Some providers end calls of tools with `stop`, and some say `tool_calls` without any. */
const finishReasonOf = (reason: string | null | undefined, answer: AnswerContent): FinishReason => {
  const calls = answer.toolCalls().length > 0;
  switch (reason) {
    case 'stop':
      return calls ? 'tool-calls' : 'stop';
    case 'length':
      return reason;
    case 'content_filter':
      return 'content-filter';
    case 'tool_calls':
    case 'function_call':
      return calls ? 'tool-calls' : 'other';
    default:
      return 'other';
  }
};

/** What the provider counted, or our estimate where it counted nothing believable, or less than was said when more was said behind it. */
const usageFrom = (
  { said, isBehind }: LastReport,
  request: ChatRequest,
  model: ModelDescription,
  answer: AnswerContent,
): Used => {
  const usage = believedUsage(said, model, !answer.isEmpty);
  const { content } = answer;
  if (usage !== undefined) {
    const more = isBehind ? answerTokens(content).counted - usage.outputTokens : 0;
    return more > 0
      ? { usage: withMoreOutput(usage, more), usageSource: 'counted' }
      : { usage, usageSource: 'upstream' };
  }
  const reasoning = content.filter(({ type }) => type === 'reasoning');
  return {
    usage: usageOf({
      input: requestTokens(request, model).counted,
      output: answerTokens(content).counted,
      reasoning: answerTokens(reasoning).counted,
    }),
    usageSource: 'counted',
  };
};
