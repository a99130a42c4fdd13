import type { LogReader } from '@app/event-log';
import type { Clock } from '@app/kernel';
import type { ReadStore } from '@app/read-store';
import type { RowProjection } from '../projection';
import { rowView } from '../views/row-view';
import { type CatchUpWorker, catchUpWorker } from './catch-up-worker';

export interface ContextWorkerOptions {
  readonly log: LogReader;
  readonly readStore: ReadStore;
  readonly clock: Clock;
  /** Each reads the context of events alone. */
  readonly projections: readonly RowProjection[];
  /** Closes the connections that were opened for this worker alone. */
  readonly onClose?: () => Promise<void>;
}

/**
 * Catches up views that read only the context of events. It needs no schemas, no keys and no store except that of the
 * rows, so its thread starts at once.
 */
export const contextWorker = (options: ContextWorkerOptions): CatchUpWorker =>
  catchUpWorker({ ...options, codec: undefined }, (view, shared) => {
    const projection = options.projections.find(({ name }) => name === view);
    if (projection === undefined) throw new Error(`unknown projection of context ${view}`);
    return rowView(projection, options.readStore, shared);
  });
