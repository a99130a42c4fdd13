import { Grouped, type Position, Unavailable } from '@app/kernel';
import type { Projecting } from '@app/projecting';
import { buildsReached } from './builds-reached';

/** How long an erasure waits for a view before it fails, and is tried again. */
const VIEW_MS = 30_000;

type Views = Pick<Projecting, 'names' | 'waitFor' | 'rebuild' | 'buildsReached'>;

/** Resolves once every view, those that are built beside too, shows everything up to a position. Throws `Unavailable` when one does not in time. */
export const viewsReached =
  (projecting: Views) =>
  async (position: Position): Promise<void> => {
    const views = projecting.names();
    const late = await Promise.all(
      views.map(async (view) => ((await projecting.waitFor(view, position, VIEW_MS)) ? [] : [view])),
    );
    const [view] = late.flat();
    if (view !== undefined) throw new Unavailable(`the view ${view}`, 'it is behind the log');
    await buildsReached(projecting, views, position);
  };

/** Names of views, those that are built beside too, that wait behind a dead letter of one of some streams. Those that ask together share one look. */
export const heldBack = (
  projecting: Pick<Projecting, 'lettersOfBuilds'>,
): ((streams: readonly string[]) => Promise<readonly string[]>) => {
  const together = new Grouped<readonly string[], readonly string[]>(async (asked) => {
    const letters = await projecting.lettersOfBuilds();
    return asked.map((streams) => {
      const concerned = new Set(streams);
      return [...new Set(letters.filter(({ stream }) => concerned.has(stream)).map(({ name }) => name))];
    });
  });
  return (streams) => together.join(streams);
};
