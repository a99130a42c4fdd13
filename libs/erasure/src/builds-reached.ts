import { setTimeout as pause } from 'node:timers/promises';
import { isDomainError, type Position, Unavailable } from '@app/kernel';
import type { Projecting } from '@app/projecting';

const POLL_MS = 20;
const LONGEST_MS = 30_000;

type Builds = Pick<Projecting, 'rebuild' | 'buildsReached'>;

/**
 * Resolves once no build of these views, other than the served one, contains what was there before a position. Builds
 * that follow the log have passed it; paused and failed ones start again. It does not wait for a build under way,
 * which meets the deletion later, and whose stores are purged when it has caught up.
 */
export const buildsReached = async (
  projecting: Builds,
  views: readonly string[],
  position: Position,
): Promise<void> => {
  for (const view of views) {
    const state = (await projecting.rebuild(view).status())?.state;
    if (state === 'paused' || state === 'failed') await startOver(projecting, view);
    if (state === 'ready' || state === 'swapped') await followed(projecting, view, position);
  }
};

/** It may have been resumed or dropped in this moment: then it is under way or gone. */
const startOver = async (projecting: Builds, view: string): Promise<void> => {
  try {
    await projecting.rebuild(view).startOver();
  } catch (error) {
    if (!isDomainError(error)) throw error;
  }
};

const followed = async (projecting: Builds, view: string, position: Position): Promise<void> => {
  for (let waited = 0; waited < LONGEST_MS; waited += POLL_MS) {
    if (await projecting.buildsReached(view, position)) return;
    await pause(POLL_MS);
  }
  throw new Unavailable(`the build beside the view ${view}`, 'it is behind the log');
};
