import { DomainError } from '@app/kernel';
import type OpenAI from 'openai';
import { z } from 'zod';
import type { ChatChunk, ChatFinish, ChatProvider, ChatRequest, ChatResult, FinishReason } from '../provider';
import { believedUsage } from '../upstream/reported-usage';
import { estimatedTokens, usageOf, USAGE_MS } from '../usage';
import { failure, limitsOf } from './openai-errors';
import { promptOf } from './prompt';

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

/** Chat models of whoever speaks the common chat-completions format. A call is made once: repeating it is its caller's decision. */
export class OpenAiChat implements ChatProvider {
  constructor(
    private readonly name: string,
    private readonly client: OpenAI,
    private readonly timeoutMs: number,
    /** Whether it takes `stream_options`. */
    private readonly streamOptions = true,
  ) {}

  async complete(request: ChatRequest): Promise<ChatResult> {
    const limits = limitsOf(request.signal, this.timeoutMs);
    const startedAt = performance.now();
    try {
      const answer = completion.parse(
        await this.client.chat.completions.create({ ...bodyOf(request), stream: false }, { signal: limits.signal }),
      );
      const first = answer.choices[0] as (typeof answer.choices)[number];
      const text = first.message.content ?? '';
      const used = usageFrom(answer.usage, request, text);
      const pace = { tokens: used.usage.outputTokens, ms: performance.now() - startedAt };
      return {
        text,
        finishReason: finishReasonOf(first.finish_reason),
        ...used,
        ...(used.usageSource === 'upstream' ? { pace } : {}),
      };
    } catch (error) {
      throw failure(error, this.name, limits);
    }
  }

  async *stream(request: ChatRequest): AsyncIterable<ChatChunk> {
    const limits = limitsOf(request.signal, this.timeoutMs);
    const ending = new Ending(limits.signal);
    try {
      const chunks = await this.client.chat.completions.create(
        {
          ...bodyOf(request),
          stream: true,
          ...(this.streamOptions ? { stream_options: { include_usage: true } } : {}),
        },
        { signal: ending.signal },
      );
      let text = '';
      let finished: string | null = null;
      let usage: unknown;
      let [firstAt, finishedAt] = [0, 0];
      for await (const chunk of chunks) {
        const { choices, usage: report } = completionChunk.parse(chunk);
        const content = choices[0]?.delta?.content ?? '';
        const reason = choices[0]?.finish_reason ?? null;
        if (text === '' && content !== '') firstAt = performance.now();
        if (finished === null && reason !== null) finishedAt = performance.now();
        if (reason !== null) ending.isFinished = true;
        finished = reason ?? finished;
        usage = report ?? usage;
        text += content;
        if (content !== '') yield { type: 'text', text: content };
      }
      ending.done();
      const used = usageFrom(usage, request, text);
      // Broken off by us: the answer has not ended, or nobody knows what it used.
      if (ending.signal.aborted && (finished === null || used.usageSource === 'counted')) throw ending.signal.reason;
      // A stream that ends without saying why was cut.
      if (finished === null) throw new DomainError('upstream_error');
      yield { type: 'finish', finishReason: finishReasonOf(finished), ...paced(used, finishedAt - firstAt) };
    } catch (error) {
      throw failure(error, this.name, limits);
    } finally {
      ending.done();
    }
  }
}

/** Ends a call with its limits; but one whose answer has ended may take a moment more to say what it used. */
class Ending {
  isFinished = false;
  private readonly end = new AbortController();
  private patience: NodeJS.Timeout | undefined;

  constructor(private readonly limits: AbortSignal) {
    if (limits.aborted) this.over();
    else limits.addEventListener('abort', this.over, { once: true });
  }

  get signal(): AbortSignal {
    return this.end.signal;
  }

  done(): void {
    clearTimeout(this.patience);
    this.limits.removeEventListener('abort', this.over);
  }

  private readonly over = (): void => {
    if (this.isFinished) this.patience = setTimeout(() => this.end.abort(this.limits.reason), USAGE_MS);
    else this.end.abort(this.limits.reason);
  };
}

type Used = Pick<ChatFinish, 'usage' | 'usageSource'>;

/** What was reasoned came before the text. */
const paced = (used: Used, ms: number): Pick<ChatFinish, 'usage' | 'usageSource' | 'pace'> => {
  const { outputTokens, outputTokenDetails } = used.usage;
  return used.usageSource === 'upstream'
    ? { ...used, pace: { tokens: outputTokens - outputTokenDetails.reasoningTokens, ms } }
    : used;
};

const bodyOf = (request: ChatRequest): OpenAI.Chat.ChatCompletionCreateParams => {
  const { temperature, topP, topK } = request.sampling;
  return {
    model: request.model.modelId,
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
const usageFrom = (report: unknown, request: ChatRequest, text: string): Used => {
  const usage = believedUsage(report, request.model, text !== '');
  if (usage !== undefined) return { usage, usageSource: 'upstream' };
  return {
    usage: usageOf({
      input: estimatedTokens(
        promptOf(request)
          .map(({ content }) => content)
          .join('\n'),
      ),
      output: estimatedTokens(text),
    }),
    usageSource: 'counted',
  };
};
