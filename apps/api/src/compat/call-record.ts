import { isUpstreamFailure, type ModelDescription, type TokenUsage, UpstreamFailure, usageOf } from '@app/models';
import type { CallToMeter, MeteredCall, Metering, Settlement } from '@app/spending';
import type { FastifyReply } from 'fastify';
import { upstreamError } from './upstream-errors';
import type { KnownUsage } from './usage-report';

const NOTHING: TokenUsage = usageOf({});

/** What is known of a call while it runs; settled once, however it ends. Until an answer comes it has cost nothing. */
export class CallRecord {
  private usage = NOTHING;
  private usageSource: Settlement['usageSource'] = 'counted';
  private outcome: Settlement['outcome'] = 'failed';
  private model: ModelDescription;
  private readonly startedAt = performance.now();

  private constructor(
    private readonly call: MeteredCall,
    { model }: CallToMeter,
  ) {
    this.model = model;
  }

  /** Holds what the call may cost. Refuses `usage_limit_exceeded`; a client that left meanwhile, of which nobody would be told any more, is called nothing for. */
  static async begin(metering: Metering, call: CallToMeter, { raw }: Pick<FastifyReply, 'raw'>): Promise<CallRecord> {
    const metered = await metering.begin(call);
    if (raw.destroyed) {
      metered.cancel();
      throw upstreamError(new UpstreamFailure('aborted'));
    }
    return new CallRecord(metered, call);
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

  succeeded(): void {
    this.outcome = 'ok';
  }

  /** `input`: what a provider that was asked bills at least when its caller leaves. */
  failed(error: unknown, input: number): void {
    if (!isUpstreamFailure(error) || error.kind !== 'aborted') return;
    this.outcome = 'aborted';
    const { asked = this.model } = error.facts;
    if (asked === null || this.usage !== NOTHING) return;
    this.model = asked;
    this.usage = usageOf({ input });
  }

  settle(): void {
    void this.call.settle({ model: this.model, usage: this.usage, usageSource: this.usageSource, outcome: this.outcome, latencyMs: Math.round(performance.now() - this.startedAt) });
  }
}
