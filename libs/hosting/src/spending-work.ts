import { type Clock, type Config, type Ids, Unavailable } from '@app/kernel';
import type { Processes } from '@app/coordination';
import type { Projecting } from '@app/projecting';
import { Ledger, Limits } from '@app/spending';
import { invocations, recordedCost } from '@projections/invocations';
import { spentIn } from '@projections/usage';
import type { Stores } from './open-stores';
import { sumsUpTo } from './sums-up-to';

/** How long a decision waits for usage records to be complete. */
const VIEW_MS = 2_000;

export interface SpendingParts {
  readonly stores: Pick<Stores, 'log' | 'codec' | 'decisions' | 'readStore'>;
  readonly projecting: Pick<Projecting, 'waitFor' | 'gap' | 'deadLetters'>;
  readonly processes: Pick<Processes, 'id' | 'alone' | 'isAlive'>;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly config: Pick<Config, 'DEFAULT_CURRENCY' | 'DEFAULT_TIME_ZONE'>;
  readonly logger: { error(facts: object, message: string): void };
}

export interface SpendingWork {
  readonly limits: Limits;
  readonly ledger: Ledger;
}

/** What counts model calls and holds them to their limits. */
export const spendingWork = ({ stores, projecting, config, ...parts }: SpendingParts): SpendingWork => {
  const { log, decisions, readStore } = stores;
  const limits = new Limits(decisions, { currency: config.DEFAULT_CURRENCY, timeZone: config.DEFAULT_TIME_ZONE });
  /** The end of the log, which usage records have reached. */
  const complete = async (): Promise<string | null> => {
    const head = await log.head();
    if (head !== null && !(await projecting.waitFor(invocations.name, head, VIEW_MS)))
      throw new Unavailable('the view of usage', 'it is behind the log');
    return head;
  };
  const ledger = new Ledger({
    ...parts,
    ...stores,
    limits,
    currency: config.DEFAULT_CURRENCY,
    spentSince: async (scope, start) => {
      const upTo = await complete();
      return {
        upTo,
        spent: upTo === null ? 0n : await spentIn(readStore, scope, start, upTo, await sumsUpTo(projecting, upTo)),
      };
    },
    recorded: async (id) => {
      const head = await log.head();
      // A record that waits as a dead letter is one, though no view shows it.
      const gap = head === null ? undefined : await projecting.gap(invocations.name, head, VIEW_MS);
      if (gap !== undefined) throw new Unavailable('the view of usage', gap.reason);
      return recordedCost(readStore, id);
    },
  });
  return { limits, ledger };
};
