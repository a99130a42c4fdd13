import {
  billed,
  type BrokenOffCall,
  type InvocationUsage,
  isUpstreamFailure,
  type KnownUsage,
  type ModelDescription,
  type OutputRates,
  type TokenUsage,
  type UnitUsage,
  type UsageSource,
  usageOf,
} from '@app/models';
import type { MeteredCall, Settlement } from './metering';

const NOTHING: TokenUsage = usageOf({});

/**
 * The state of a running model call, which is settled once, however it ends. Until there is an answer, it costs
 * nothing.
 */
export class CallRecord {
  private usage = NOTHING;
  private usageSource: UsageSource = 'counted';
  private made: UnitUsage | undefined;
  private outcome: Settlement['outcome'] = 'failed';
  private readonly startedAt = performance.now();

  constructor(
    private readonly call: MeteredCall,
    /** The model asked for. */
    private model: ModelDescription,
    /** Output tokens that are held for it. */
    private readonly held: number,
    private readonly rates: OutputRates,
    /** Images, characters or seconds that are asked for. */
    private readonly asked?: UnitUsage,
  ) {
    if (asked !== undefined) this.made = noneOf(asked);
  }

  get id(): string {
    return this.call.invocationId;
  }

  /** Billed images, characters or seconds, as far as known; undefined for a call without units. */
  get units(): UnitUsage | undefined {
    return this.made;
  }

  /** The model that answers, if it is not the requested one. */
  servedBy(model: ModelDescription): void {
    this.model = model;
  }

  /** What was used until now. */
  used({ usage, source, units }: KnownUsage): void {
    this.usage = usage;
    if (units !== undefined) this.made = units;
    this.usageSource = source;
  }

  /** The answer came to its end in `ms` milliseconds, with so much output as its provider says. */
  madeIn(ms: number, output: number): void {
    this.rates.note(this.model, output, ms);
  }

  succeeded(): void {
    this.outcome = 'ok';
  }

  /** Whoever called left it on purpose. */
  stopped(): void {
    this.outcome = 'aborted';
  }

  /** The provider did not say what the call used. */
  brokenOff(call: Pick<BrokenOffCall, 'seen' | 'told' | 'ms'>): void {
    this.used(this.rates.brokenOff({ ...call, model: this.model, held: this.held }));
  }

  /**
   * `seen`: the counted usage. If a working provider was left, broke off or took too long, the call is billed for what
   * may have been made; a response without an answer, by its reported usage.
   */
  failed(error: unknown, seen: TokenUsage): void {
    if (!isUpstreamFailure(error)) return;
    if (error.kind === 'aborted') this.outcome = 'aborted';
    const { work } = error.facts;
    if (work === undefined || this.usage !== NOTHING) return;
    this.model = work.model;
    if (work.usage !== undefined) return this.used({ usage: work.usage, source: 'upstream' });
    this.brokenOff({ seen, ms: work.ms });
    // Whoever makes a whole image, speech or transcript bills it whole.
    this.made = this.asked;
  }

  /** What it costs, as far as it is known. */
  bill(currency: string): InvocationUsage {
    return {
      ...billed(this.usage, this.model.pricing, currency, this.made),
      isIncludedUsage: this.call.isIncludedUsage,
    };
  }

  settle(): void {
    void this.call.settle({
      model: this.model,
      usage: this.usage,
      ...(this.made === undefined ? {} : { units: this.made }),
      usageSource: this.usageSource,
      outcome: this.outcome,
      latencyMs: Math.round(performance.now() - this.startedAt),
    });
  }
}

const noneOf = (units: UnitUsage): UnitUsage =>
  Object.fromEntries(Object.keys(units).map((name) => [name, 0])) as UnitUsage;
