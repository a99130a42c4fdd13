import type { ModelDescription, TokenUsage, UsageSource } from '@app/models';

/** Injection token of the `Metering`. */
export const METERING = Symbol('Metering');

/** A model call that is about to be made: whom it is for, and what it may cost at most as far as one can tell. */
export interface CallToMeter {
  readonly userId: string;
  /** The API key, if one was used. */
  readonly keyId?: string;
  readonly agentId?: string;
  readonly spaceId?: string;
  readonly kind: 'chat' | 'embedding' | 'rerank';
  /** Somebody asks a model for this very call: a limit that is used up refuses it also where it costs nothing. Not so what documents and searches need. */
  readonly isAskedFor?: true;
  readonly model: ModelDescription;
  /** Those that may answer, the model itself among them: what is held is the price of the dearest. By default the model alone. */
  readonly mayAnswer?: readonly ModelDescription[];
  /** Input as counted here, output as asked for or usual. What is held for the call is priced from it. */
  readonly estimate: TokenUsage;
  /** Tokens that the input may be where it has more of them than texts usually have: they are held. By default as many as were counted. */
  readonly mostInput?: number;
}

/** How a metered call ended. */
export interface Settlement {
  /** The model that answered: the one the call began with, or its fallback. Its prices apply. */
  readonly model: ModelDescription;
  /** All zero for a call that never reached a model; what may have been made until then for one that was broken off. */
  readonly usage: TokenUsage;
  /** `counted`: the upstream reported nothing, or nothing believable. `held`: it was broken off before it could. */
  readonly usageSource: UsageSource;
  readonly outcome: 'ok' | 'failed' | 'aborted';
  readonly latencyMs: number;
}

/** A call that was let through; what is held for it comes free when it is settled. */
export interface MeteredCall {
  /** Id of the invocation in usage records. */
  readonly invocationId: string;
  /** False where nothing is held for it: its model is free, or no limit concerns it. */
  readonly isHeld: boolean;
  /** Covered by what is included; decided when the call was let through. */
  readonly isIncludedUsage: boolean;
  /** Gives back what is held for a call that is not made after all: there is no invocation. In place of `settle`. */
  cancel(): void;
  /**
   * Ends the call: what is held becomes what was spent. To be called exactly once, in a `finally`; nobody needs to wait for
   * it. Resolves when it is recorded, and never rejects: what cannot be recorded now is recorded later.
   */
  settle(settlement: Settlement): Promise<void>;
}

/** Counts and limits model calls: reserve, call, settle. */
export interface Metering {
  /**
   * Holds the price of the estimate against every limit that concerns the call. Refuses `usage_limit_exceeded` with the
   * facts `limitId`, `scope`, `window` and `resetsAt` (ISO 8601, or null for a total) when a blocking limit has nothing left, with
   * `spent`, `held` and `amount` (decimal strings) where it is the caller's own; `retryAfterSeconds` where the window resets.
   */
  begin(call: CallToMeter): Promise<MeteredCall>;
}
