import type { ModelDescription } from './catalogue';
import { LOCAL } from './provider';
import { type KnownUsage, type TokenUsage, withMoreOutput } from './usage';

/** Output tokens a second of a model of which too little was measured: as many as the fast ones among hosted models make. */
const PRIOR = 1_000;
/** Measured calls of a model that are remembered. */
const REMEMBERED = 64;
/** So many calls must be measured before a model counts as slower than that. */
const ENOUGH = 10;
/** Of measured calls nine in ten were not faster: what a model could have made, rather than what it usually makes. */
const QUANTILE = 0.9;
/** A shorter answer tells how long a model takes to begin, not how fast it is: it may only show that it is faster. */
const TELLING_TOKENS = 256;
/** What came in less time tells of a cache, or of the network. */
const TELLING_MS = 250;
/** How long a provider goes on before it sees that it was left, as far as that is counted. */
export const NOTICE_MS = 500;

interface Measured {
  /** Tokens a second, the oldest first. */
  readonly calls: number[];
  /** Derived from them when it is asked for. */
  rate: number | undefined;
}

/** A call that was broken off before its provider said what it used. */
export interface BrokenOffCall {
  readonly model: ModelDescription;
  /** How long its provider has had for what it did not tell, milliseconds. */
  readonly ms: number;
  /** The input as counted, and the output that was told or seen: no less was used. */
  readonly seen: TokenUsage;
  /** Output that was told for sure, so that it is not made in those milliseconds; none by default. */
  readonly told?: number;
  /** Output tokens that were held: no more is billed for what nobody saw. */
  readonly held: number;
}

/** How fast models make output, measured from calls that ended with a usage from their provider. Each process measures by itself, and begins anew with a start. */
export class OutputRates {
  private readonly measured = new Map<string, Measured>();

  /** Notes that a model made `tokens` in `ms` milliseconds. */
  note(model: ModelDescription, tokens: number, ms: number): void {
    if (ms < TELLING_MS) return;
    const rate = (tokens / ms) * 1_000;
    if (tokens < TELLING_TOKENS && rate <= this.of(model)) return;
    const known = this.measured.get(keyOf(model)) ?? { calls: [], rate: undefined };
    this.measured.set(keyOf(model), known);
    known.calls.push(rate);
    if (known.calls.length > REMEMBERED) known.calls.shift();
    known.rate = undefined;
  }

  /** Output tokens a second of a model. */
  of(model: ModelDescription): number {
    const known = this.measured.get(keyOf(model));
    if (known === undefined) return PRIOR;
    known.rate ??= rateOf(known.calls);
    return known.rate;
  }

  /** What to bill for a call that was broken off: what its model could have made in the time it had, hidden reasoning too, or what was seen where that is more. Local models make nothing unseen. */
  brokenOff({ model, ms, seen, told = 0, held }: BrokenOffCall): KnownUsage {
    if (model.provider === LOCAL) return { usage: seen, source: 'counted' };
    const made = Math.min(told + Math.ceil((this.of(model) * ms) / 1_000), held);
    return made <= seen.outputTokens
      ? { usage: seen, source: 'counted' }
      : { usage: withMoreOutput(seen, made - seen.outputTokens), source: 'held' };
  }
}

const rateOf = (calls: readonly number[]): number => {
  const ranked = calls.toSorted((a, b) => a - b);
  const rate = ranked[Math.ceil(QUANTILE * ranked.length) - 1] as number;
  return calls.length < ENOUGH ? Math.max(rate, PRIOR) : rate;
};

/** A model keeps its speed when the catalogue gives it another key or price. */
const keyOf = ({ provider, modelId }: ModelDescription): string => `${provider}/${modelId}`;
