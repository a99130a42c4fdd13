import {
  billed,
  type ChatFinish,
  type InvocationUsage,
  type KnownUsage,
  type ModelDescription,
  NOTICE_MS,
  type OutputRates,
  type TokenUsage,
  usageOf,
} from '@app/models';
import type { MeteredCall, Settlement } from '@app/spending';

/** What an answer cost: settled once, and told beside the answer. */
export class AnswerBill {
  private startedAt = 0;
  private model: ModelDescription | undefined;

  constructor(
    /** Undefined where no model was there to hold anything for. */
    private readonly metered: MeteredCall | undefined,
    private readonly currency: string,
    private readonly rates: OutputRates,
  ) {}

  /** From here on the model may cost something. */
  begin(model: ModelDescription): void {
    this.model = model;
    this.startedAt = performance.now();
  }

  /** Ends the bill of an answer that is there. */
  complete({ usage, usageSource, pace }: ChatFinish): InvocationUsage | null {
    if (this.model !== undefined && pace !== undefined) this.rates.note(this.model, pace.tokens, pace.ms);
    return this.end({ usage, source: usageSource }, 'ok');
  }

  /** Ends the bill of an answer that was broken off: by us, or by its provider. `seen`: what was given and said; `held`: output that was held. */
  brokenOff(
    seen: TokenUsage,
    held: number,
    by: 'us' | 'provider',
    outcome: Settlement['outcome'],
  ): InvocationUsage | null {
    const { model } = this;
    const ms = performance.now() - this.startedAt + (by === 'us' ? NOTICE_MS : 0);
    return this.end(model === undefined ? NOTHING : this.rates.brokenOff({ model, ms, seen, held }), outcome);
  }

  /** Ends the bill of what nothing was made for. */
  nothing(outcome: Settlement['outcome']): void {
    this.end(NOTHING, outcome);
  }

  /** What was held comes free where no model was asked. */
  private end({ usage, source: usageSource }: KnownUsage, outcome: Settlement['outcome']): InvocationUsage | null {
    const { model } = this;
    if (model === undefined) {
      this.metered?.cancel();
      return null;
    }
    void this.metered?.settle({
      model,
      usage,
      usageSource,
      outcome,
      latencyMs: Math.round(performance.now() - this.startedAt),
    });
    return { ...billed(usage, model.pricing, this.currency), isIncludedUsage: this.metered?.isIncludedUsage ?? false };
  }
}

const NOTHING: KnownUsage = { usage: usageOf({}), source: 'counted' };
