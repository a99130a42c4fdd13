import type { ModelDescription, TokenUsage, UnitUsage, UsageSource } from '@app/models';

/** Injection token of the `Metering`. */
export const METERING = Symbol('Metering');

/** A model call to be made: who it is for, and an estimate of its highest cost. */
export interface CallToMeter {
  readonly userId: string;
  /** The API key, if one was used. */
  readonly keyId?: string;
  readonly agentId?: string;
  readonly spaceId?: string;
  readonly kind: 'chat' | 'embedding' | 'rerank' | 'image' | 'speech' | 'transcription';
  /**
   * A user requested this call, so a used-up limit rejects it even if it is free. Calls for documents and searches are
   * not rejected then.
   */
  readonly isAskedFor?: true;
  readonly model: ModelDescription;
  /** The models that may answer, including the model itself: the reservation uses the highest price. Default: the model alone. */
  readonly mayAnswer?: readonly ModelDescription[];
  /** Input as counted here, output as requested or usual. The reservation is priced from it. */
  readonly estimate: TokenUsage;
  /**
   * The reserved input tokens, if the input may have more tokens than usual texts. Default: as many as were counted.
   */
  readonly mostInput?: number;
  /** Images, characters or seconds that are asked for. */
  readonly units?: UnitUsage;
}

/** The end of a metered call. */
export interface Settlement {
  /** The model that answered: the one the call began with, or its fallback. Its prices apply. */
  readonly model: ModelDescription;
  /** All zero for a call that never reached a model; the possible output so far for one that broke off. */
  readonly usage: TokenUsage;
  /** Of a call that has units: those that are billed. */
  readonly units?: UnitUsage;
  /** `counted`: the provider reported nothing, or nothing plausible. `held`: the call broke off before it could. */
  readonly usageSource: UsageSource;
  readonly outcome: 'ok' | 'failed' | 'aborted';
  readonly latencyMs: number;
}

/** An admitted call. Its reservation is released when it is settled. */
export interface MeteredCall {
  /** Id of the invocation in usage records. */
  readonly invocationId: string;
  /** False if nothing is reserved: its model is free, or no limit applies. */
  readonly isHeld: boolean;
  /** Covered by what is included; decided when the call was let through. */
  readonly isIncludedUsage: boolean;
  /** Releases the reservation of a call that is not made after all. Use it instead of `settle`. */
  cancel(): void;
  /**
   * Ends the call: the reservation is replaced by the actual cost. Call it exactly once, in a `finally`; there is no
   * need to wait for it. Resolves when it is recorded and never rejects: if it cannot be recorded now, it is recorded
   * later.
   */
  settle(settlement: Settlement): Promise<void>;
}

/** Counts and limits model calls: reserve, call, settle. */
export interface Metering {
  /**
   * Reserves the price of the estimate under every limit that applies. Throws `usage_limit_exceeded` if a blocking limit has
   * nothing left, with `limitId`, `scope`, `window` and `resetsAt` (ISO 8601, or null for a total), with `spent`, `held` and
   * `amount` (decimal strings) if it is the caller's own limit, and `retryAfterSeconds` if the window resets.
   */
  begin(call: CallToMeter): Promise<MeteredCall>;
}
