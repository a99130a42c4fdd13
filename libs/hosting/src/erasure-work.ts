import type { BlobName } from '@app/blobs';
import { type Clock, Grouped, type Position, type StreamReader, Unavailable } from '@app/kernel';
import { eraseContent } from '@app/erasure';
import type { Policy, Projecting } from '@app/projecting';
import { aggregates } from './aggregates';
import { buildsReached } from './builds-reached';
import { noteReceipt } from './finish-erasures';
import type { Stores } from './open-stores';

/** How long an erasure waits for a view before it fails, and is tried again. */
const VIEW_MS = 30_000;

export interface ErasureWorkParts {
  readonly stores: Stores;
  readonly projecting: Pick<
    Projecting,
    'names' | 'waitFor' | 'rebuild' | 'buildsReached' | 'lettersOfBuilds' | 'events'
  >;
  readonly clock: Clock;
  readonly logger: { warn(facts: object, message: string): void };
}

/** Erases what was deleted from every store of the platform. */
export const erasureWork = ({ stores, projecting, clock, logger }: ErasureWorkParts): Policy => {
  const { log, vault, blobs, decisions, readStore, searchIndex } = stores;
  const viewsReached = async (position: Position): Promise<void> => {
    const late = await Promise.all(
      projecting.names().map(async (view) => ((await projecting.waitFor(view, position, VIEW_MS)) ? [] : [view])),
    );
    const [view] = late.flat();
    if (view !== undefined) throw new Unavailable(`the view ${view}`, 'it is behind the log');
    await buildsReached(projecting, projecting.names(), position);
  };
  const heldBack = new Grouped<readonly string[], readonly string[]>(async (asked) => {
    const letters = await projecting.lettersOfBuilds();
    return asked.map((streams) => {
      const concerned = new Set(streams);
      return [...new Set(letters.filter(({ stream }) => concerned.has(stream)).map(({ name }) => name))];
    });
  });
  /** The last of those that come together stands for all. */
  const noted = new Grouped<string, void>(async (receipts) => {
    await noteReceipt(readStore, receipts.at(-1) ?? '', clock.now());
    return receipts.map(() => undefined);
  });
  // What a build under way has read before a deletion that it then met: its rows are removed, and so must their traces be.
  projecting.events.on('rebuild', ({ view, state }) => {
    if (state !== 'ready') return;
    Promise.all([readStore.purge(), searchIndex.purge()]).catch((error: unknown) =>
      logger.warn({ view, error }, 'Purging the stores after a rebuild failed. The next erasure purges them.'),
    );
  });
  return eraseContent({
    decisions,
    vault,
    blobs,
    clock,
    aggregates,
    blobsOf: async (stream) => (aggregates.holdBlobs(stream) ? blobsInStream(log, stream) : []),
    viewsReached,
    heldBack: (streams) => heldBack.join(streams),
    stores: [
      { name: 'views', purge: () => readStore.purge() },
      { name: 'search', purge: () => searchIndex.purge() },
    ],
    onReceipt: (stream) => noted.join(stream),
    memories: [{ name: 'decisions', forget: (things) => things.forEach((thing) => decisions.forget(thing)) }],
  });
};

/** Names are not encrypted: nothing is decoded. */
const blobsInStream = async (log: StreamReader, stream: string): Promise<readonly BlobName[]> => {
  const named = (await log.readStream(stream)).map(({ type, data }) =>
    aggregates.blobsIn({ type, data: JSON.parse(data) as Record<string, unknown> }),
  );
  return [...new Set(named.flatMap(({ held, released }) => [...held, ...released]))];
};
