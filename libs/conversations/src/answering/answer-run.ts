import { GatheredText, isDomainError, isUnavailable, reject } from '@app/kernel';
import {
  callsTools,
  type ChatMessage,
  type ChatProvider,
  type ChatRequest,
  type FinishReason,
  type InvocationUsage,
  isUpstreamFailure,
  type ModelDescription,
  type TokenUsage,
  upstreamRejection,
} from '@app/models';
import { CallRecord, type MeteredCall } from '@app/spending';
import { type MessagePart, type ToolPart } from '../conversation/message-parts';
import type { PausedAnswer, ResumedAnswer } from '../conversation/tool-approvals';
import type { TurnBegun } from '../conversation/provenance.schema';
import { AnswerParts } from './answer-parts';
import { AnswerSources } from './answer-sources';
import { type AnswererParts, type AnsweringAgent, type Outcome, Stopped, USUAL_OUTPUT } from './answering';
import type { ProvenanceRecorder } from './provenance-recorder';
import type { Requester, RetrievedPassage } from './retriever';
import type { TurnBeginning } from './turn-beginnings';
import { usageSum } from './usage-sum';
import { callsIn, closedCalls, fitting, ToolCalls } from './tool-calls';

/** Calls of the model for one answer. One that still calls tools then ends as `tool-calls`. */
const MAX_STEPS = 8;

/** One answer, or the rest of it after it waited. */
export interface AnswerToMake {
  readonly agent: AnsweringAgent;
  readonly requester: Requester;
  /** What was said, with the question. */
  readonly messages: readonly ChatMessage[];
  readonly signal: AbortSignal;
  /** For the first call of the model; it is settled here. Without it one is reserved. */
  readonly metered?: MeteredCall | undefined;
  /** Where it goes on. */
  readonly from?: ResumedAnswer;
  /** Resolves when everything said so far is in the log. Throws if nobody waits for the answer any more. */
  readonly save: () => Promise<void>;
  /** The Skills and memories that the turn began with; those of an incognito one by default. */
  readonly begun?: TurnBeginning;
  /** Told what the answer is made from. */
  readonly provenance?: ProvenanceRecorder;
  /** Whether it may wait for approvals; else it has no tools that need them. */
  readonly mayWait: boolean;
  /** Whether somebody has heard of it: what was said then stays. It stays without, too. */
  readonly isHeard?: () => boolean;
  /** Told the parts whenever they changed. */
  readonly say: (parts: readonly MessagePart[]) => void;
}

/** What an answer asks for around its calls of the model. */
export interface AnswerSteps {
  reserve(said: readonly ChatMessage[]): Promise<MeteredCall | undefined>;
  retrieve(
    metered: MeteredCall | undefined,
  ): Promise<Pick<PausedAnswer, 'degraded'> & { readonly passages: readonly RetrievedPassage[] }>;
  seen(request: ChatRequest, text: string): TokenUsage;
}

/** Makes an answer step by step: a call of the model, then of the tools that it requests, until it requests none. */
export class AnswerRun {
  private readonly said: AnswerParts;
  private readonly sources: AnswerSources;
  private usage: InvocationUsage | null;
  private degraded: PausedAnswer['degraded'];
  private metered: MeteredCall | undefined;
  private model: string;

  constructor(
    private readonly parts: AnswererParts,
    private readonly answer: AnswerToMake & { readonly begun: TurnBeginning },
    private readonly steps: AnswerSteps,
  ) {
    const { from, agent, say } = answer;
    this.said = new AnswerParts(from?.parts ?? [], say);
    this.sources = new AnswerSources((passages) => answer.provenance?.found(passages));
    if (from !== undefined) this.sources.resume(from.passages, from.parts);
    this.usage = from?.paused.usage ?? null;
    this.degraded = from?.paused.degraded;
    this.metered = answer.metered;
    this.model = from?.paused.model ?? agent.model ?? parts.models.catalogue.defaultModel;
  }

  /** A failure is an answer too, with what was said before it. */
  async run(): Promise<Outcome> {
    try {
      return await this.toEnd();
    } catch (error) {
      return this.unfinished(error);
    } finally {
      this.metered?.cancel();
    }
  }

  private async toEnd(): Promise<Outcome> {
    const { agent, requester, from, signal, save } = this.answer;
    const { model, provider } = this.parts.models.chat(agent.model);
    this.model = model.key;
    // A summary may have taken minutes.
    if (!(await this.parts.tools.mayUse(agent, requester))) reject('forbidden', { reason: 'agent_lost' });
    const tools = await this.toolsFor(model);
    if (from === undefined) {
      const { passages, degraded } = await this.steps.retrieve(this.metered);
      this.degraded = degraded;
      this.sources.begin(passages);
    } else await this.runCalls(tools);
    for (let step = from === undefined ? 1 : stepsIn(this.said.all) + 1; ; step += 1) {
      if (step > 1) {
        await save();
        this.said.add({ type: 'step-start' });
      }
      const finishReason = await this.step(model, provider, tools);
      if (callsIn(this.said.all).length === 0) return this.ended('complete', finishReason);
      // Calls are recorded before they run, so no process repeats a call that another may have run.
      await save();
      await this.runCalls(tools);
      signal.throwIfAborted();
      if (callsIn(this.said.all).some(({ state }) => state === 'approval-requested'))
        return {
          ...this.ended('waiting', 'tool-calls'),
          status: 'waiting',
          passages: this.sources.all,
          began: this.began,
        };
      if (step >= MAX_STEPS) return this.ended('complete', 'tool-calls');
    }
  }

  private async toolsFor(model: ModelDescription): Promise<ToolCalls> {
    const { agent, requester, mayWait, begun } = this.answer;
    const own = callsTools(model) ? await this.parts.tools.of(agent, requester) : [];
    const may = mayWait ? own : own.filter(({ approval }) => approval === 'never');
    const beside = callsTools(model) ? [...begun.skills.tools, ...begun.memories.tools] : [];
    // No tool of an API takes the name of one of these.
    const mayCall = () => this.parts.tools.mayUse(agent, requester);
    return new ToolCalls([...may, ...beside], { mayCall, logger: this.parts.logger });
  }

  private get began(): TurnBegun {
    const { skills, memories } = this.answer.begun;
    return {
      ...(skills.isUnavailable ? {} : { skills: [...skills.versions] }),
      memories: [...memories.references],
      memoryState: memories.state,
    };
  }

  /** One call of the model, metered by itself. */
  private async step(model: ModelDescription, provider: ChatProvider, tools: ToolCalls): Promise<FinishReason> {
    const { agent, messages, begun, signal, isHeard } = this.answer;
    const said = [...begun.memories.shown, ...messages, ...this.sources.shown(this.said.all, begun.skills.loadedTexts)];
    const before = this.said.all;
    let record = await this.recordOf(model, said);
    const request: ChatRequest = {
      model,
      system: this.systemFor(model),
      messages: said,
      sources: this.sources.given,
      sampling: agent.sampling,
      signal,
      ...(isHeard && { mayRepeat: () => !isHeard() }),
      onBrokenOff: async (failure) => {
        this.billUnfinished(failure, this.steps.seen(request, text.text), record);
        record?.settle();
        record = undefined;
        // The other call is an invocation of its own.
        record = await this.recordOf(model, said);
      },
      onSent: (body) => this.answer.provenance?.sent(body),
      ...(tools.descriptions.length === 0 ? {} : { tools: tools.descriptions }),
    };
    let { marks, cited, forget } = this.sources.reader();
    let text = new GatheredText();
    const say = (piece: string): void => {
      text.add(piece);
      this.said.say('text', piece);
    };
    try {
      for await (const chunk of provider.stream(request)) {
        if (chunk.type === 'text') say(marks.push(chunk.text));
        else say(marks.end());
        if (chunk.type === 'reasoning') this.said.say('reasoning', chunk.text);
        if (chunk.type === 'tool-call') this.said.add(tools.partOf(chunk, this.said.all));
        if (chunk.type === 'again') {
          forget();
          this.said.backTo(before);
          ({ marks, cited, forget } = this.sources.reader());
          text = new GatheredText();
        }
        if (chunk.type !== 'finish') continue;
        this.said.add(...cited(text.text));
        this.model = chunk.model.key;
        record?.servedBy(chunk.model);
        record?.used({ usage: chunk.usage, source: chunk.usageSource });
        if (chunk.pace !== undefined) record?.madeIn(chunk.pace.ms, chunk.pace.tokens);
        record?.succeeded();
        this.bill(record);
        return chunk.finishReason;
      }
      throw new Error('the model stream has no end');
    } catch (error) {
      if (isUpstreamFailure(error)) this.model = error.facts.work?.model.key ?? this.model;
      this.billUnfinished(error, this.steps.seen(request, text.text), record);
      throw error;
    } finally {
      record?.settle();
    }
  }

  /** For a call of the model whose cost is held; undefined for a model that is not there. */
  private async recordOf(model: ModelDescription, said: readonly ChatMessage[]): Promise<CallRecord | undefined> {
    const metered = this.metered ?? (await this.steps.reserve(said));
    this.metered = undefined;
    return metered && new CallRecord(metered, model, USUAL_OUTPUT, this.parts.models.rates);
  }

  private systemFor(model: ModelDescription): string {
    const { agent, begun } = this.answer;
    const { catalogue } = begun.skills;
    return callsTools(model) && catalogue !== ''
      ? `${agent.systemPrompt}\n\n${catalogue}`.trimStart()
      : agent.systemPrompt;
  }

  /** Runs the calls of the last step that may be run, all at once. */
  private async runCalls(tools: ToolCalls): Promise<void> {
    const run = async (part: ToolPart): Promise<void> => {
      if (part.approval?.approved === false) return this.said.call(part.toolCallId, { state: 'output-denied' });
      const end = fitting(await tools.run(part, this.said.all, this.answer.signal), this.said.all, this.sources.unkept);
      const { fields, passages, shown = [], given } = end;
      if (given !== undefined) this.sources.gave(part.toolCallId, given);
      this.sources.join(part.toolCallId, passages);
      this.said.add(...shown);
      this.said.call(part.toolCallId, fields);
    };
    await Promise.all(
      callsIn(this.said.all)
        .filter(({ state }) => state === 'input-available' || state === 'approval-responded')
        .map(run),
    );
  }

  private ended<Status extends 'complete' | 'stopped' | 'failed' | 'waiting'>(
    status: Status,
    finishReason: FinishReason,
  ) {
    return {
      parts: status === 'stopped' || status === 'failed' ? closedCalls(this.said.all) : this.said.all,
      status,
      finishReason,
      model: this.model,
      usage: this.usage,
      ...(this.degraded === undefined || this.degraded.length === 0 ? {} : { degraded: this.degraded }),
    };
  }

  private unfinished(error: unknown): Outcome {
    if (isStopped(error)) return this.ended('stopped', 'other');
    const rejection = upstreamRejection(error);
    const errorCode = isDomainError(rejection) ? rejection.code : isUnavailable(rejection) ? 'unavailable' : 'internal';
    this.parts.logger.warn(
      {
        agentId: this.answer.agent.agentId,
        model: this.model,
        code: errorCode,
        ...(rejection === error && isDomainError(error) ? {} : { error }),
      },
      'Answer failed.',
    );
    return { ...this.ended('failed', 'error'), errorCode };
  }

  /** If a working model was left or its provider broke off, its output so far is billed; a call that failed at once costs nothing. */
  private billUnfinished(error: unknown, seen: TokenUsage, record: CallRecord | undefined): void {
    if (record === undefined) return;
    const isLeft = isStopped(error);
    // A local model was stopped, or broke off, in the middle.
    const isSeen = !isUpstreamFailure(error) && (isLeft || seen.outputTokens > 0);
    if (isSeen) record.used({ usage: seen, source: 'counted' });
    if (isLeft) record.stopped();
    record.failed(error, seen);
    if (isSeen || (isUpstreamFailure(error) && error.facts.work !== undefined)) this.bill(record);
  }

  private bill(record: CallRecord | undefined): void {
    if (record === undefined) return;
    const usage = record.bill(this.parts.currency);
    this.usage = this.usage === null ? usage : usageSum(this.usage, usage);
    this.answer.provenance?.called(record.id, usage);
  }
}

const stepsIn = (parts: readonly MessagePart[]): number => 1 + parts.filter(({ type }) => type === 'step-start').length;

const isStopped = (error: unknown): boolean =>
  error instanceof Stopped || (isUpstreamFailure(error) && error.kind === 'aborted');
