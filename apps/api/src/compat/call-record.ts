import {
  type BrokenOffCall,
  isUpstreamFailure,
  type KnownUsage,
  type ModelDescription,
  type OutputRates,
  type TokenUsage,
  UpstreamFailure,
  type UsageSource,
  usageOf,
} from '@app/models';
import type { CallToMeter, MeteredCall, Metering, Settlement } from '@app/spending';
import type { FastifyReply } from 'fastify';
import { upstreamError } from './upstream-errors';

const NOTHING: TokenUsage = usageOf({});

/** What calls are recorded with. */
export interface Recording {
  readonly metering: Metering;
  readonly rates: OutputRates;
}

/** What is known of a call while it runs; settled once, however it ends. Until an answer comes it has cost nothing. */
export class CallRecord {
  private usage = NOTHING;
  private usageSource: UsageSource = 'counted';
  private outcome: Settlement['outcome'] = 'failed';
  private model: ModelDescription;
  private readonly startedAt = performance.now();

  private constructor(
    private readonly call: MeteredCall,
    private readonly asked: CallToMeter,
    private readonly rates: OutputRates,
  ) {
    this.model = asked.model;
  }

  /** Holds what the call may cost. Refuses `usage_limit_exceeded`; a client that left meanwhile, of which nobody would be told any more, is called nothing for. */
  static async begin(
    { metering, rates }: Recording,
    call: CallToMeter,
    { raw }: Pick<FastifyReply, 'raw'>,
  ): Promise<CallRecord> {
    const metered = await metering.begin(call);
    if (raw.destroyed) {
      metered.cancel();
      throw upstreamError(new UpstreamFailure('aborted'));
    }
    return new CallRecord(metered, call, rates);
  }

  get id(): string {
    return this.call.invocationId;
  }

  /** The model that answers, where it is not the one asked for. */
  servedBy(model: ModelDescription): void {
    this.model = model;
  }

  /** What was used until now. */
  used({ usage, source }: KnownUsage): void {
    this.usage = usage;
    this.usageSource = source;
  }

  /** The answer came to its end in `ms` milliseconds, with so much output as its provider says. */
  madeIn(ms: number, output: number): void {
    this.rates.note(this.model, output, ms);
  }

  succeeded(): void {
    this.outcome = 'ok';
  }

  /** The provider did not say what the call used. */
  brokenOff(call: Pick<BrokenOffCall, 'seen' | 'told' | 'ms'>): void {
    this.used(this.rates.brokenOff({ ...call, model: this.model, held: this.asked.estimate.outputTokens }));
  }

  /** `input`: as it was counted. It is billed with what may have been made where a provider that was at work was left, or took too long. */
  failed(error: unknown, input: number): void {
    if (!isUpstreamFailure(error)) return;
    if (error.kind === 'aborted') this.outcome = 'aborted';
    const { work } = error.facts;
    if (work === undefined || this.usage !== NOTHING) return;
    this.model = work.model;
    this.brokenOff({ seen: usageOf({ input }), ms: work.ms });
  }

  settle(): void {
    void this.call.settle({
      model: this.model,
      usage: this.usage,
      usageSource: this.usageSource,
      outcome: this.outcome,
      latencyMs: Math.round(performance.now() - this.startedAt),
    });
  }
}
