import { setTimeout as pause } from 'node:timers/promises';
import { isDomainError, type Position, Unavailable } from '@app/kernel';
import type { Projecting } from '@app/projecting';
import type { ReadStore } from '@app/read-store';
import type { SearchIndex } from '@app/search-index';

const POLL_MS = 20;
const LONGEST_MS = 30_000;

/**
 * Resolves once no build beside a served one holds what was there before a position: builds that follow the log have passed
 * it, paused and failed ones begin anew. A build under way is not waited for: it meets the deletion as it goes on, and its
 * stores are purged when it has caught up.
 */
export const buildsReached = async (projecting: Pick<Projecting, 'names' | 'rebuild'>, readStore: Pick<ReadStore, 'versions' | 'checkpoint'>, searchIndex: Pick<SearchIndex, 'versions' | 'checkpoint'>, position: Position): Promise<void> => {
  for (const view of projecting.names()) {
    const rebuild = projecting.rebuild(view).status();
    if (rebuild === undefined) continue;
    if (rebuild.state === 'paused' || rebuild.state === 'failed') await startOver(projecting, view);
    if (rebuild.state === 'ready' || rebuild.state === 'swapped') await followed(view, [readStore, searchIndex], position);
  }
};

/** It may have been resumed or dropped in this moment: then it is under way or gone. */
const startOver = async (projecting: Pick<Projecting, 'rebuild'>, view: string): Promise<void> => {
  try {
    await projecting.rebuild(view).startOver();
  } catch (error) {
    if (!isDomainError(error)) throw error;
  }
};

const followed = async (view: string, stores: readonly Pick<ReadStore, 'versions' | 'checkpoint'>[], position: Position): Promise<void> => {
  for (let waited = 0; waited < LONGEST_MS; waited += POLL_MS) {
    const positions = await Promise.all(stores.map(async (store) => Promise.all((await store.versions(view)).map(async (version) => (await store.checkpoint(view, version))?.position ?? ''))));
    if (positions.flat().every((reached) => reached >= position)) return;
    await pause(POLL_MS);
  }
  throw new Unavailable(`the build beside the view ${view}`, 'it is behind the log');
};
