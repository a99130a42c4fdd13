import { billed, type InvocationUsage, type ModelDescription, type TokenUsage } from '@app/models';
import type { MeteredCall, Settlement } from '@app/spending';

/** What an answer cost: settled once, and told beside the answer. */
export class AnswerBill {
  private startedAt = 0;
  private model: ModelDescription | undefined;

  constructor(
    /** Undefined where no model was there to hold anything for. */
    private readonly metered: MeteredCall | undefined,
    private readonly currency: string,
  ) {}

  /** From here on the model may cost something. */
  begin(model: ModelDescription): void {
    this.model = model;
    this.startedAt = performance.now();
  }

  /** Ends the bill; what was held comes free where no model was asked. */
  end(usage: TokenUsage, usageSource: Settlement['usageSource'], outcome: Settlement['outcome']): InvocationUsage | null {
    const { model } = this;
    if (model === undefined) {
      this.metered?.cancel();
      return null;
    }
    void this.metered?.settle({ model, usage, usageSource, outcome, latencyMs: Math.round(performance.now() - this.startedAt) });
    return { ...billed(usage, model.pricing, this.currency), isIncludedUsage: this.metered?.isIncludedUsage ?? false };
  }
}
