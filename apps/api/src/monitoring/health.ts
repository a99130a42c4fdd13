import { isUnavailable } from '@app/kernel';
import type { ProviderStatus } from '@app/models';
import type { Leases, Policies, PolicyStatus, ProcessStatus, Projecting, ProjectionStatus } from '@app/projecting';

/** What the platform depends on, by name. */
export type Dependencies = Readonly<Record<string, () => Promise<DependencyHealth>>>;

export interface DependencyHealth {
  readonly ok: boolean;
  readonly reason?: string;
}

/** A process with the work that it holds: the units of each group, such as the slices of a view. */
export interface ProcessHealth extends ProcessStatus {
  readonly holds: Readonly<Record<string, readonly number[]>>;
}

export interface HealthReport {
  /** `down` when a dependency is that requests need, `degraded` when another one is, or a view or policy is late, stands still or holds dead letters, or a model provider is left alone. */
  readonly status: 'up' | 'degraded' | 'down';
  readonly version: string;
  readonly dependencies: Readonly<Record<string, DependencyHealth>>;
  readonly providers: readonly ProviderStatus[];
  readonly processes: readonly ProcessHealth[];
  readonly policies: readonly PolicyStatus[];
  readonly projections: readonly ProjectionStatus[];
}

/** How long one dependency may take to answer. */
const PATIENCE_MS = 2_000;
/** Views and policies later than this count as late. */
const LATE_SECONDS = 10;

type Phase = 'starting' | 'ready' | 'draining';

export interface HealthParts {
  readonly dependencies: Dependencies;
  /** What requests can do without. */
  readonly spared: Dependencies;
  readonly projecting: Pick<Projecting, 'status'>;
  readonly policies: Pick<Policies, 'status'>;
  readonly leases: Pick<Leases, 'status' | 'processes'>;
  /** Whether each model provider is called at present. */
  readonly providers: () => readonly ProviderStatus[];
  readonly version: string;
}

/** Whether this process takes requests, and how what it stands on and who stands beside it are doing. */
export class Health {
  private phase: Phase = 'starting';
  /** What was answered last, for when the stores are slow. */
  private seen: Pick<HealthReport, 'projections' | 'policies' | 'processes'> = { projections: [], policies: [], processes: [] };

  constructor(private readonly parts: HealthParts) {}

  enter(phase: Phase): void {
    this.phase = phase;
  }

  /** True while requests are taken and some can be served: changes need the log, most reads the views alone. */
  async ready(): Promise<boolean> {
    const { log, readStore } = this.parts.dependencies;
    return this.phase === 'ready' && (await Promise.all([answerOf(log), answerOf(readStore)])).some(({ ok }) => ok);
  }

  async report(): Promise<HealthReport> {
    const { dependencies: needed, spared } = this.parts;
    const [dependencies, projections, policies, processes] = await Promise.all([
      answersOf({ ...needed, ...spared }),
      inTime(this.parts.projecting.status(), this.seen.projections, noneWhenAway),
      inTime(this.parts.policies.status(), this.seen.policies, noneWhenAway),
      inTime(this.processes(), this.seen.processes, noneWhenAway),
    ]);
    this.seen = { projections, policies, processes };
    const isWell = (name: string): boolean => dependencies[name]?.ok === true;
    const providers = this.parts.providers();
    const well = Object.keys(spared).every(isWell) && providers.every(({ circuit }) => circuit === 'closed') && [...projections, ...policies].every(({ deadLetters, lagSeconds, state }) => deadLetters === 0 && lagSeconds < LATE_SECONDS && state !== 'stopped');
    const status = Object.keys(needed).every(isWell) ? (well ? 'up' : 'degraded') : 'down';
    return { status, version: this.parts.version, dependencies, providers, processes, policies, projections };
  }

  private async processes(): Promise<readonly ProcessHealth[]> {
    const { leases } = this.parts;
    const [processes, held] = await Promise.all([leases.processes.status(), leases.status()]);
    return processes.map((process) => {
      const groups = Map.groupBy(held.filter(({ holder }) => holder === process.id), ({ group }) => group);
      return { ...process, holds: Object.fromEntries([...groups].map(([group, units]) => [group, units.map(({ unit }) => unit).toSorted((a, b) => a - b)])) };
    });
  }
}

const answersOf = async (dependencies: Dependencies): Promise<Readonly<Record<string, DependencyHealth>>> =>
  Object.fromEntries(await Promise.all(Object.entries(dependencies).map(async ([name, asked]) => [name, await answerOf(asked)] as const)));

const answerOf = async (asked: Dependencies[string] | undefined): Promise<DependencyHealth> =>
  asked === undefined ? { ok: true } : inTime(asked(), { ok: false, reason: 'no answer' }, (error) => ({ ok: false, reason: error instanceof Error ? error.name : 'failed' }));

/** A store is away: which one, the dependencies say. */
const noneWhenAway = (error: unknown): [] => {
  if (isUnavailable(error)) return [];
  throw error;
};

/** What is answered in time, `otherwise` where nothing is. */
const inTime = async <T>(asked: Promise<T>, otherwise: T, failed: (error: unknown) => T): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<T>((resolve) => (timer = setTimeout(() => resolve(otherwise), PATIENCE_MS)));
  try {
    return await Promise.race([asked, late]);
  } catch (error) {
    return failed(error);
  } finally {
    clearTimeout(timer);
  }
};
