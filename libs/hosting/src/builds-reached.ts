import { setTimeout as pause } from 'node:timers/promises';
import type { LogReader } from '@app/event-log';
import { isDomainError, type Position, Unavailable } from '@app/kernel';
import type { Projecting, Projection } from '@app/projecting';
import type { ReadStore } from '@app/read-store';
import type { SearchIndex } from '@app/search-index';

const POLL_MS = 20;
const LONGEST_MS = 30_000;

type Builds = Pick<ReadStore | SearchIndex, 'versions' | 'checkpoint'>;

export interface BuildsReachedParts {
  readonly projecting: Pick<Projecting, 'rebuild'>;
  readonly projections: readonly Pick<Projection, 'name' | 'types'>[];
  readonly log: Pick<LogReader, 'readAll'>;
  /** Stores of the builds. */
  readonly stores: readonly Builds[];
}

/**
 * Resolves once no build beside a served one holds what was there before a position: builds that follow the log have passed
 * it, paused and failed ones begin anew. A build under way is not waited for: it meets the deletion as it goes on, and its
 * stores are purged when it has caught up.
 */
export const buildsReached = async (parts: BuildsReachedParts, position: Position): Promise<void> => {
  for (const { name, types } of parts.projections) {
    const rebuild = parts.projecting.rebuild(name).status();
    if (rebuild === undefined) continue;
    if (rebuild.state === 'paused' || rebuild.state === 'failed') await startOver(parts.projecting, name);
    if (rebuild.state === 'ready' || rebuild.state === 'swapped') await followed(parts, name, types, position);
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

const followed = async ({ log, stores }: BuildsReachedParts, view: string, types: readonly string[], position: Position): Promise<void> => {
  for (let waited = 0; waited < LONGEST_MS; waited += POLL_MS) {
    const checkpoints = (await Promise.all(stores.map((store) => checkpointsOf(store, view)))).flat();
    const behind = checkpoints.filter((checkpoint) => checkpoint === null || checkpoint < position);
    const waiting = await Promise.all(behind.map((checkpoint) => isMissing(log, types, checkpoint, position)));
    if (!waiting.includes(true)) return;
    await pause(POLL_MS);
  }
  throw new Unavailable(`the build beside the view ${view}`, 'it is behind the log');
};

const checkpointsOf = async (store: Builds, view: string): Promise<readonly (Position | null)[]> =>
  Promise.all((await store.versions(view)).map(async (version) => (await store.checkpoint(view, version))?.position ?? null));

/** Whether an event that the view reads stands after a checkpoint, up to a position. In a quiet log checkpoints stay behind others. */
const isMissing = async (log: BuildsReachedParts['log'], types: readonly string[], checkpoint: Position | null, position: Position): Promise<boolean> => {
  for (let after = checkpoint; ; ) {
    const { events, next, end } = await log.readAll({ after, limit: 1, filter: { types } });
    const [event] = events;
    if (event !== undefined) return event.position <= position;
    if (end || next === null || next >= position) return false;
    after = next;
  }
};
