import { canonicalJson, type Decider, never, reject } from '@app/kernel';
import type { RestatedCall, RestatementEvent } from './restatement.events';

/** What is restated: the calls that began at `from` or later and before `to`. */
export type RestatementTerms = Omit<Extract<RestatementEvent, { type: 'RestatementBegun' }>['data'], 'restatementId'>;
type Closing = Extract<RestatementEvent, { type: 'RestatementClosed' }>['data'];

/** The place of the ledger: after this call, in the order of `at`, then id. */
export interface LedgerPlace {
  readonly at: string;
  readonly id: string;
}

/** State of a restatement. */
export type Restatement = { readonly status: 'none' } | OpenRestatement | { readonly status: 'closed' };

/**
 * A second ledger that is being written: `place` is its last call, null before its first; `kept` counts calls without
 * other prices. By API key, null for calls without one.
 */
export interface OpenRestatement {
  readonly status: 'open';
  readonly terms: RestatementTerms;
  readonly place: LedgerPlace | null;
  readonly totals: Sums;
  readonly kept: number;
  readonly models: ReadonlyMap<string, Sums>;
  readonly apiKeys: ReadonlyMap<string | null, Sums>;
}

interface Sums {
  readonly calls: number;
  readonly billed: bigint;
  readonly restated: bigint;
}

/** What can be asked of a restatement. */
export type RestatementCommand =
  | { readonly type: 'Begin'; readonly restatementId: string; readonly terms: RestatementTerms }
  /** `after`: the required place of the ledger. */
  | { readonly type: 'Enter'; readonly after: LedgerPlace | null; readonly calls: readonly RestatedCall[] }
  /** `after`: the last of all calls; it must have been entered. */
  | { readonly type: 'Close'; readonly after: LedgerPlace | null };

const NOTHING: Sums = { calls: 0, billed: 0n, restated: 0n };

/** The second ledger of a period. Its order is fixed, so any process that continues it knows what is missing. */
export const restatementDecider: Decider<Restatement, RestatementCommand, RestatementEvent> = {
  category: 'restatement',
  initial: { status: 'none' },

  decide: (command, state) => {
    switch (command.type) {
      case 'Begin':
        return state.status === 'none'
          ? [{ type: 'RestatementBegun', data: { restatementId: command.restatementId, ...command.terms } }]
          : [];
      case 'Enter': {
        if (state.status === 'none') return reject('conflict', { reason: 'restatement_not_begun' });
        // Others finished it meanwhile.
        if (state.status === 'closed') return [];
        return standsAt(state, command.after) && command.calls.length > 0
          ? [{ type: 'InvocationsRestated', data: { calls: [...command.calls] } }]
          : [];
      }
      case 'Close':
        if (state.status === 'none') return reject('conflict', { reason: 'restatement_not_begun' });
        // Others entered calls that this one has not seen: theirs may not be the last.
        return state.status === 'open' && standsAt(state, command.after)
          ? [{ type: 'RestatementClosed', data: closing(state) }]
          : [];
      default:
        return never(command);
    }
  },

  evolve: (state, { type, data }) => {
    if (type === 'RestatementBegun') {
      const { restatementId: _, ...terms } = data;
      return { status: 'open', terms, place: null, totals: NOTHING, kept: 0, models: new Map(), apiKeys: new Map() };
    }
    if (type === 'RestatementClosed') return { status: 'closed' };
    return state.status === 'open' ? entered(state, data.calls) : state;
  },
};

const standsAt = ({ place }: OpenRestatement, wanted: LedgerPlace | null): boolean =>
  canonicalJson(place) === canonicalJson(wanted);

const entered = (state: OpenRestatement, calls: readonly RestatedCall[]): OpenRestatement => {
  const models = new Map(state.models);
  const apiKeys = new Map(state.apiKeys);
  let { totals, kept, place } = state;
  for (const call of calls) {
    totals = added(totals, call);
    models.set(call.model, added(models.get(call.model), call));
    apiKeys.set(call.apiKeyId, added(apiKeys.get(call.apiKeyId), call));
    if (call.priceVersion === null) kept += 1;
    place = { at: call.at, id: call.id };
  }
  return { ...state, place, totals, kept, models, apiKeys };
};

const added = ({ calls, billed, restated }: Sums = NOTHING, call: RestatedCall): Sums => ({
  calls: calls + 1,
  billed: billed + BigInt(call.billed),
  restated: restated + BigInt(call.cost),
});

const closing = ({ totals, kept, models, apiKeys }: OpenRestatement): Closing => ({
  ...texts(totals),
  kept,
  models: listed(models),
  apiKeys: listed(apiKeys),
});

/** In the order in which they were first met, which is that of the ledger. */
const listed = <Key>(sums: ReadonlyMap<Key, Sums>) => [...sums].map(([key, each]) => ({ key, ...texts(each) }));

const texts = ({ calls, billed, restated }: Sums) => ({
  calls,
  billed: billed.toString(),
  restated: restated.toString(),
});
