import { type Clock, deriveId, Unavailable } from '@app/kernel';
import type { Projecting } from '@app/projecting';
import { Restatements } from '@app/spending';
import { invocationPages, invocations } from '@projections/invocations';
import { openRestatements } from '@projections/restatements';
import type { Stores } from './open-stores';
import type { Finisher } from './unfinished-work';

/** How long a restatement may go on before others take it for abandoned; both may go on with it, since each page is entered once. */
const ABANDONED_MS = 60_000;
/** How long it is waited for usage records to be complete. */
const VIEW_MS = 30_000;

export interface RestatingParts {
  readonly stores: Pick<Stores, 'decisions' | 'log' | 'codec' | 'readStore'>;
  readonly projecting: Pick<Projecting, 'waitFor'>;
  readonly clock: Clock;
}

export interface RestatingWork {
  readonly restatements: Restatements;
  readonly unfinished: Finisher;
}

/** What restates past usage, and finishes what was left unfinished of that. */
export const restatingWork = ({ stores, projecting, clock }: RestatingParts): RestatingWork => {
  const { log, readStore } = stores;
  const restatements = new Restatements(stores, async function* (period, place) {
    const after = place === null ? undefined : { values: [place.at], key: place.id };
    for await (const rows of invocationPages(readStore, { filters: [], ...period }, { order: 'asc', after }))
      yield rows.map(({ row }) => row);
  });
  const finish = async (): Promise<void> => {
    const now = clock.now();
    const left = await openRestatements(readStore, new Date(now.getTime() - ABANDONED_MS).toISOString());
    if (left.length === 0) return;
    const head = await log.head();
    if (head !== null && !(await projecting.waitFor(invocations.name, head, VIEW_MS)))
      throw new Unavailable('the view of usage', 'it is behind the log');
    for (const id of left) {
      const commandId = deriveId(id, 'finish');
      await restatements.finish(id, { commandId, correlationId: commandId, actor: 'system:restatements', now });
    }
  };
  return { restatements, unfinished: { name: 'restatements', finish } };
};
