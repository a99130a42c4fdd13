import type { KnownForeign } from '@app/auditing';
import { afterWaiting, coalesced, isUnavailable } from '@app/kernel';
import type { ProviderStatus } from '@app/models';
import type { Leases, Processes, ProcessStatus } from '@app/coordination';
import type { Policies, PolicyStatus, Projecting, ProjectionStatus } from '@app/projecting';
import type { KnownUnproven } from '@app/sealing';
import { isToldOf, type NamedReindexing } from './reindexing';

/** What the platform depends on, by name. */
export type Dependencies = Readonly<Record<string, () => Promise<DependencyHealth>>>;

export interface DependencyHealth {
  readonly ok: boolean;
  /** It is there and has not answered yet: requests wait for it. */
  readonly slow?: boolean;
  readonly reason?: string;
}

/** A process with the work that it holds: the units of each group, such as the slices of a view. */
export interface ProcessHealth extends ProcessStatus {
  readonly holds: Readonly<Record<string, readonly number[]>>;
}

export interface HealthReport {
  /** `down`: a dependency that requests need is down. `degraded`: another dependency is down, one that they need is slow, a view or policy is late, stalled, has dead letters or did not report in time, or the circuit of a model provider is open. */
  readonly status: 'up' | 'degraded' | 'down';
  readonly version: string;
  readonly dependencies: Readonly<Record<string, DependencyHealth>>;
  readonly providers: readonly ProviderStatus[];
  readonly processes: readonly ProcessHealth[];
  readonly policies: readonly PolicyStatus[];
  /** All there are. */
  readonly projections: readonly (ProjectionStatus | UnknownProjection)[];
  /** What other programs wrote to the server of the log, as far as it was counted; absent where they wrote nothing. It stops nothing. */
  readonly foreignEvents?: KnownForeign;
  /** Events in the log that nobody with `SEAL_KEY` appended, and when such were last found; absent where there are none. */
  readonly unprovenEvents?: KnownUnproven;
  /** Whether documents wait to be re-indexed, and the jobs that are not ended; absent where there is neither. Searches answer meanwhile. */
  readonly reindex?: NamedReindexing;
}

/** A view of which nothing could be told in time. */
export interface UnknownProjection {
  readonly name: string;
  readonly version: 0;
  readonly state: 'unknown';
  readonly lagEvents: null;
  readonly lagSeconds: null;
  readonly deadLetters: 0;
}

const unknownProjection = (name: string): UnknownProjection => ({
  name,
  version: 0,
  state: 'unknown',
  lagEvents: null,
  lagSeconds: null,
  deadLetters: 0,
});

/** How long one dependency may take to answer. */
const TIMEOUT_MS = 2_000;
/** How long views, policies and processes may take to say how they are doing: that a dependency is slow is told within 2 s. */
const STATUS_MS = 1_500;
/** Views and policies later than this count as late. */
const LATE_SECONDS = 10;

type Phase = 'starting' | 'ready' | 'draining';

export interface HealthParts {
  readonly dependencies: Dependencies;
  /** What requests can do without. */
  readonly optional: Dependencies;
  readonly projecting: Pick<Projecting, 'status' | 'names'>;
  readonly policies: Pick<Policies, 'status'>;
  readonly leases: Pick<Leases, 'status' | 'processes'>;
  readonly foreignEvents: () => Promise<KnownForeign>;
  readonly unprovenEvents: () => Promise<KnownUnproven>;
  readonly reindexing: () => Promise<NamedReindexing>;
  /** Whether each model provider is called at present. */
  readonly providers: () => readonly ProviderStatus[];
  readonly version: string;
}

/** Undefined: it did not tell in time, and never before. */
interface ReportParts {
  readonly projections?: HealthReport['projections'] | undefined;
  readonly policies?: HealthReport['policies'] | undefined;
  readonly processes?: HealthReport['processes'] | undefined;
  readonly foreignEvents?: KnownForeign | undefined;
  readonly unprovenEvents?: KnownUnproven | undefined;
  readonly reindexing?: NamedReindexing | undefined;
}

/** Whether this process takes requests, and how what it stands on and who stands beside it are doing. */
export class Health {
  private phase: Phase = 'starting';
  /** What was answered last, for when the stores are slow. */
  private seen: ReportParts = {};
  private readonly statusOf;

  constructor(private readonly parts: HealthParts) {
    // Whoever asks more often than the stores answer asks them no more often.
    this.statusOf = {
      projections: coalesced(() => parts.projecting.status()),
      policies: coalesced(() => parts.policies.status()),
      processes: coalesced(() => this.processes()),
      foreignEvents: coalesced(() => parts.foreignEvents()),
      unprovenEvents: coalesced(() => parts.unprovenEvents()),
      reindexing: coalesced(() => parts.reindexing()),
    };
  }

  enter(phase: Phase): void {
    this.phase = phase;
  }

  /** True while requests are taken and some can be served: changes need the log, most reads the views alone. */
  async ready(): Promise<boolean> {
    const { log, readStore } = this.parts.dependencies;
    return this.phase === 'ready' && (await Promise.all([answerOf(log), answerOf(readStore)])).some(({ ok }) => ok);
  }

  async report(): Promise<HealthReport> {
    const { dependencies: needed, optional } = this.parts;
    const [
      dependencies,
      toldOfProjections,
      toldOfPolicies,
      toldOfProcesses,
      foreignEvents,
      unprovenEvents,
      reindexing,
    ] = await Promise.all([
      answersOf({ ...needed, ...optional }),
      inTime(STATUS_MS, this.statusOf.projections(), this.seen.projections, noneIfUnavailable),
      inTime(STATUS_MS, this.statusOf.policies(), this.seen.policies, noneIfUnavailable),
      inTime(STATUS_MS, this.statusOf.processes(), this.seen.processes, noneIfUnavailable),
      inTime(STATUS_MS, this.statusOf.foreignEvents(), this.seen.foreignEvents, () => this.seen.foreignEvents),
      inTime(STATUS_MS, this.statusOf.unprovenEvents(), this.seen.unprovenEvents, () => this.seen.unprovenEvents),
      inTime(STATUS_MS, this.statusOf.reindexing(), this.seen.reindexing, () => this.seen.reindexing),
    ]);
    const {
      projections = this.parts.projecting.names().map(unknownProjection),
      policies = [],
      processes = [],
    } = (this.seen = {
      projections: toldOfProjections,
      policies: toldOfPolicies,
      processes: toldOfProcesses,
      foreignEvents,
      unprovenEvents,
      reindexing,
    });
    const isTold = toldOfProjections !== undefined && toldOfPolicies !== undefined;
    const isWell = (name: string): boolean => dependencies[name]?.ok === true;
    const isDown = (name: string): boolean => !isWell(name) && dependencies[name]?.slow !== true;
    const providers = this.parts.providers();
    const well =
      isTold &&
      Object.keys(dependencies).every(isWell) &&
      providers.every(({ circuit }) => circuit === 'closed') &&
      [...projections, ...policies].every(
        ({ deadLetters, lagSeconds, state }) =>
          deadLetters === 0 && lagSeconds !== null && lagSeconds < LATE_SECONDS && state !== 'stopped',
      );
    const status = Object.keys(needed).some(isDown) ? 'down' : well ? 'up' : 'degraded';
    return {
      status,
      version: this.parts.version,
      dependencies,
      providers,
      processes,
      policies,
      projections,
      ...(foreignEvents !== undefined && foreignEvents.events > 0 && { foreignEvents }),
      ...(unprovenEvents !== undefined && unprovenEvents.events > 0 && { unprovenEvents }),
      ...(reindexing !== undefined && isToldOf(reindexing) && { reindex: reindexing }),
    };
  }

  private async processes(): Promise<readonly ProcessHealth[]> {
    const { leases } = this.parts;
    const [processes, held] = await Promise.all([leases.processes.status(), leases.status()]);
    return processes.map((process) => {
      const groups = Map.groupBy(
        held.filter(({ holder }) => holder === process.id),
        ({ group }) => group,
      );
      return {
        ...process,
        holds: Object.fromEntries(
          [...groups].map(([group, units]) => [group, units.map(({ unit }) => unit).toSorted((a, b) => a - b)]),
        ),
      };
    });
  }
}

const answersOf = async (dependencies: Dependencies): Promise<Readonly<Record<string, DependencyHealth>>> =>
  Object.fromEntries(
    await Promise.all(
      Object.entries(dependencies).map(async ([name, asked]) => [name, await answerOf(asked)] as const),
    ),
  );

const answerOf = async (asked: Dependencies[string] | undefined): Promise<DependencyHealth> =>
  asked === undefined
    ? { ok: true }
    : inTime(TIMEOUT_MS, asked(), { ok: false, reason: 'no answer' }, (error) => ({
        ok: false,
        reason: error instanceof Error ? error.name : 'failed',
      }));

/** A store is away: which one, the dependencies say. */
const noneIfUnavailable = (error: unknown): undefined => {
  if (isUnavailable(error)) return undefined;
  throw error;
};

/** What is answered in time, `otherwise` where nothing is. */
export const inTime = async <T>(
  milliseconds: number,
  asked: Promise<T>,
  otherwise: T,
  failed: (error: unknown) => T,
): Promise<T> => {
  const { promise: late, resolve } = Promise.withResolvers<T>();
  const answered = afterWaiting(milliseconds, () => resolve(otherwise));
  try {
    return await Promise.race([asked, late]);
  } catch (error) {
    return failed(error);
  } finally {
    answered();
  }
};

/** What other processes do for this one: without a living one its work waits, and little else tells. Nothing where this process does all. */
export const roleHealth = (processes: Pick<Processes, 'alone' | 'status'>): Dependencies =>
  processes.alone ? {} : { projector: livingOf(processes, 'projector'), worker: livingOf(processes, 'worker') };

const livingOf =
  (processes: Pick<Processes, 'status'>, role: string): Dependencies[string] =>
  async () =>
    (await processes.status()).some(({ alive, roles }) => alive && roles.includes(role))
      ? { ok: true }
      : { ok: false, reason: 'no running process has this role' };
