import { decimalAmount } from '@app/kernel';
import { z } from 'zod';
import type { RecordedInvocation } from '../invocations/invocation.events';
import type { LimitScope } from '../limits/limit.events';
import { type Window, windowAt, type WindowSpec } from '../windows';
import { callsAffected, listed, Tally, tallyOf } from './tally';

/** A limit that does not exist. Amounts are nano-units. */
export interface ProposedLimit {
  /** Without an id: a limit of this kind for each one. */
  readonly scope: { readonly type: LimitScope['type']; readonly id?: string | undefined };
  readonly window: WindowSpec['window'];
  readonly timeZone: string;
  readonly amount: bigint;
  readonly action: 'block' | 'warn';
  /** What of a window's spending a subscription covers; null: nothing. */
  readonly included: bigint | null;
}

/** What a limit would have done; `affected` calls began when nothing was left, which the limit would have rejected or warned of. */
export const whatIfAnswer = z.object({
  outcome: z.enum(['refused', 'warned']).describe('What the limit would have done in the period.'),
  calls: z.number().int().describe('All calls of the period that the limit applies to.'),
  cost: z.string().describe('What they cost, a decimal.'),
  affected: callsAffected.describe('The calls that it would have rejected or warned about.'),
  saved: z.string().describe('The amount that would not have been spent, a decimal; zero for a limit that only warns.'),
  includedCost: z.string().describe('The amount that included usage would have covered, a decimal.'),
  users: z
    .array(callsAffected.extend({ key: z.string().describe('The user.') }))
    .describe('The affected calls by user.'),
  apiKeys: z
    .array(callsAffected.extend({ key: z.string().nullable().describe('The API key; null for calls without one.') }))
    .describe('The affected calls by API key.'),
  models: z
    .array(callsAffected.extend({ key: z.string().describe('The model.') }))
    .describe('The affected calls by model.'),
});
export type WhatIfAnswer = z.output<typeof whatIfAnswer>;

/** One account: what was spent in the window that is open. */
interface Account {
  readonly calendar: WindowSpec;
  window: Window;
  spent: bigint;
}

const SCOPE_FIELDS = { space: 'spaceId', agent: 'agentId', user: 'userId', apiKey: 'apiKeyId' } as const;

/**
 * Replays calls under a limit as if it had been set at `from`; earlier spending in the window at that time counts. Each
 * call is assumed to end before the next begins, and a rejected one not to be made. As in the ledger, calls of free
 * models are rejected like any other, except the embeddings for documents and searches.
 */
export class WhatIf {
  private readonly accounts = new Map<string, Account>();
  private readonly all = new Tally();
  private readonly affected = new Tally();
  private readonly users = new Map<string, Tally>();
  private readonly apiKeys = new Map<string | null, Tally>();
  private readonly models = new Map<string, Tally>();
  private includedCost = 0n;

  /** `weekOf`: when a user's weeks run from, ISO 8601; null: the calendar's weeks. */
  constructor(
    private readonly limit: ProposedLimit,
    private readonly from: string,
    private readonly weekOf: (userId: string) => string | null = () => null,
  ) {}

  /** The next call; calls come in the order in which they began. */
  add(call: RecordedInvocation): void {
    const holder = this.holderOf(call);
    if (holder === undefined) return;
    const cost = BigInt(call.cost);
    const account = this.accountOf(holder, Date.parse(call.at));
    if (call.at >= this.from) this.judge(call, cost, account);
    else account.spent += cost;
  }

  answer(): WhatIfAnswer {
    const rejects = this.limit.action === 'block';
    return {
      outcome: rejects ? 'refused' : 'warned',
      calls: this.all.calls,
      cost: decimalAmount(this.all.cost),
      affected: this.affected.shown(),
      saved: decimalAmount(rejects ? this.affected.cost : 0n),
      includedCost: decimalAmount(this.includedCost),
      users: listed(this.users),
      apiKeys: listed(this.apiKeys),
      models: listed(this.models),
    };
  }

  private judge(call: RecordedInvocation, cost: bigint, account: Account): void {
    const { amount, action, included } = this.limit;
    this.all.add(call.at, cost);
    if ((cost > 0n || isAskedFor(call)) && account.spent >= amount) {
      for (const tally of [
        this.affected,
        tallyOf(this.users, call.userId),
        tallyOf(this.apiKeys, call.apiKeyId),
        tallyOf(this.models, call.model),
      ])
        tally.add(call.at, cost);
      if (action === 'block') return;
    }
    if (included !== null && account.spent < included) this.includedCost += cost;
    account.spent += cost;
  }

  /** Whose account the call is on; undefined for a call that the limit is not about. */
  private holderOf(call: RecordedInvocation): string | undefined {
    const { type, id } = this.limit.scope;
    if (type === 'instance') return '';
    const holder = call[SCOPE_FIELDS[type]];
    return holder === null || (id !== undefined && holder !== id) ? undefined : holder;
  }

  private accountOf(holder: string, at: number): Account {
    let account = this.accounts.get(holder);
    if (account === undefined) {
      const { scope, window, timeZone } = this.limit;
      const calendar = {
        window,
        timeZone,
        anchor: scope.type === 'user' && window === 'week' ? this.weekOf(holder) : null,
      };
      this.accounts.set(holder, (account = { calendar, window: windowAt(calendar, at), spent: 0n }));
    }
    if (account.window.resetsAt !== null && at >= Date.parse(account.window.resetsAt)) {
      account.window = windowAt(account.calendar, at);
      account.spent = 0n;
    }
    return account;
  }
}

/** Whether a user requested this call; embeddings of documents and searches belong to an Agent or a Space. */
const isAskedFor = ({ kind, agentId, spaceId }: RecordedInvocation): boolean =>
  kind !== 'embedding' || (agentId === null && spaceId === null);

const WEEK_MS = 7 * 24 * 60 * 60_000;

/**
 * The start of the earliest window that is open at a time under a limit; null: there is none. Users' weeks begin up to
 * a week before.
 */
export const earliestWindow = (
  { scope, window, timeZone }: Pick<ProposedLimit, 'scope' | 'window' | 'timeZone'>,
  at: string,
): string | null =>
  scope.type === 'user' && window === 'week'
    ? new Date(Date.parse(at) - WEEK_MS).toISOString()
    : windowAt({ window, timeZone, anchor: null }, Date.parse(at)).start;
