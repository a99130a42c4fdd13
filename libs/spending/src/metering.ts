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
  /** Somebody requested this very call, so a used-up limit rejects it even if it is free. What documents and searches need is not rejected then. */
  readonly isAskedFor?: true;
  readonly model: ModelDescription;
  /** The models that may answer, including the model itself: the reservation uses the highest price. Default: the model alone. */
  readonly mayAnswer?: readonly ModelDescription[];
  /** Input as counted here, output as requested or usual. The reservation is priced from it. */
  readonly estimate: TokenUsage;
  /** Tokens that the input may be where it has more of them than texts usually have: they are held. By default as many as were counted. */
  readonly mostInput?: number;
  /** Images, characters or seconds that are asked for. */
  readonly units?: UnitUsage;
}

/** The end of a metered call. */
export interface Settlement {
  /** The model that answered: the one the call began with, or its fallback. Its prices apply. */
  readonly model: ModelDescription;
  /** All zero for a call that never reached a model; what may have been made until then for one that was broken off. */
  readonly usage: TokenUsage;
  /** Of a call that has units: those that are billed. */
  readonly units?: UnitUsage;
  /** `counted`: the upstream reported nothing, or nothing believable. `held`: it was broken off before it could. */
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
   * Ends the call: the reservation becomes what was spent. Call it exactly once, in a `finally`; there is no need to wait for
   * it. Resolves when it is recorded and never rejects: what cannot be recorded now is recorded later.
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
