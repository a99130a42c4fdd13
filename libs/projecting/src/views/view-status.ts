import type { LeaseStatus } from '@app/coordination';
import type { EventLog } from '@app/event-log';
import type { Clock, Position } from '@app/kernel';
import { lagOf } from '../lag';
import type { ManagedView } from './managed-view';
import type { Ordinals } from '../ordinals';
import type { RebuildRecord, RebuildState } from '../rebuild/rebuild-record';
import type { Verification } from '../rebuild/verification';

/** What is shown of a rebuild (wire, `GET /projections`). */
export interface RebuildStatus {
  readonly version: number;
  readonly done: number;
  readonly total: number;
  /** Events a second. */
  readonly rate: number;
  readonly etaSeconds: number | null;
  readonly state: RebuildState;
  readonly reason: RebuildRecord['reason'];
  readonly failure?: RebuildRecord['failure'];
  readonly verification?: Verification;
}

/** A view as operators see it (wire, `GET /projections`). `version` is the number of the build that is served. */
export interface ProjectionStatus {
  readonly name: string;
  readonly version: number;
  readonly state: 'live' | 'catching-up' | 'rebuilding' | 'paused' | 'stopped';
  readonly position: Position | null;
  readonly head: Position | null;
  /** Null where nobody has counted them: the log is not sealed so far. */
  readonly lagEvents: number | null;
  readonly lagSeconds: number;
  readonly rows: number;
  readonly deadLetters: number;
  readonly rebuild?: RebuildStatus;
}

export interface StatusParts {
  readonly log: EventLog;
  readonly ordinals: Ordinals;
  readonly clock: Clock;
  /** Who holds which slice. */
  readonly leases: readonly LeaseStatus[];
}

/** How a view is doing, whoever writes it: from memory where this process does, else from the store. */
export const viewStatus = async (managed: ManagedView, parts: StatusParts): Promise<ProjectionStatus> => {
  const { view } = managed;
  const { name, store } = view;
  const version = (await store.live()) ?? 0;
  const live = view.whole ? view.live : undefined;
  // A damaged build is out of the way before another is there.
  const isThere = live !== undefined || (version !== 0 && (await view.isThere(version)));
  const position = live === undefined ? await storedPosition(managed, version) : live.position;
  const lag = await lagOf(position, parts.log, parts.ordinals, parts.clock);
  const rebuild = await rebuildStatus(managed, version);
  const isRunning = live?.running ?? (!view.whole && isHeldWhole(parts.leases, name, store.slices));
  return {
    name,
    version,
    state: stateOf(isRunning, rebuild, lag.lagEvents),
    position,
    ...lag,
    rows: isThere ? await store.count(version) : 0,
    deadLetters: live?.letters.size ?? (isThere ? (await store.letters(version)).length : 0),
    ...(rebuild === undefined ? {} : { rebuild }),
  };
};

/** True when somebody holds each of a group's units: those that several hold, in a rolling start, count once. */
export const isHeldWhole = (leases: readonly LeaseStatus[], group: string, units: number): boolean =>
  new Set(leases.filter((lease) => lease.group === group && lease.holder !== null).map(({ unit }) => unit)).size >=
  units;

/** The rebuild of a view; undefined where there is none. */
export const rebuildStatus = async (
  { view, rebuild, leads, progress }: ManagedView,
  served: number,
): Promise<RebuildStatus | undefined> => {
  const record = leads ? rebuild.state : await view.records.rebuild();
  if (record === undefined) return undefined;
  const { from: _, swap: __, fence: ___, goal: ____, ...shown } = record;
  const follower = [view.live, view.beside].find((candidate) => candidate?.version === shown.version);
  const done = view.whole ? Math.max(progress.done, follower?.count ?? 0) : await view.stored.handled(shown.version);
  if (!leads && shown.state === 'building') progress.at(done);
  const total = Math.max(
    done,
    view.whole && view.live !== undefined ? view.live.count : await view.stored.handled(served),
  );
  const { rate } = progress;
  return {
    ...shown,
    done,
    total,
    rate: Math.round(rate),
    etaSeconds: done >= total ? 0 : rate === 0 ? null : Math.ceil((total - done) / rate),
  };
};

/** The position after which a build misses events: the end of the log if it is complete. */
const storedPosition = async ({ view }: ManagedView, version: number): Promise<Position | null> => {
  const head = await view.head();
  return version === 0 || head === null ? null : view.stored.reached(version, head);
};

const stateOf = (
  isRunning: boolean,
  rebuild: RebuildStatus | undefined,
  lagEvents: number | null,
): ProjectionStatus['state'] => {
  if (rebuild?.state === 'building' || rebuild?.state === 'verifying') return 'rebuilding';
  if (rebuild?.state === 'paused') return 'paused';
  if (!isRunning) return 'stopped';
  return lagEvents === 0 ? 'live' : 'catching-up';
};
