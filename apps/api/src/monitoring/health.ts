import type { Projecting, ProjectionStatus } from '@app/projecting';

/** What the platform depends on, by name. */
export type Dependencies = Readonly<Record<string, () => Promise<DependencyHealth>>>;

export interface DependencyHealth {
  readonly ok: boolean;
  readonly reason?: string;
}

export interface HealthReport {
  /** `down` when a dependency is, `degraded` when a view is late or holds dead letters. */
  readonly status: 'up' | 'degraded' | 'down';
  readonly version: string;
  readonly dependencies: Readonly<Record<string, DependencyHealth>>;
  readonly projections: readonly ProjectionStatus[];
}

/** How long one dependency may take to answer. */
const PATIENCE_MS = 2_000;
/** Views later than this count as late. */
const LATE_SECONDS = 10;

type Phase = 'starting' | 'ready' | 'draining';

/** Whether this process takes requests, and how what it stands on is doing. */
export class Health {
  private phase: Phase = 'starting';

  constructor(
    private readonly dependencies: Dependencies,
    private readonly projecting: Pick<Projecting, 'status'>,
    private readonly version: string,
  ) {}

  enter(phase: Phase): void {
    this.phase = phase;
  }

  /** True while requests are taken and the log can be read. */
  async ready(): Promise<boolean> {
    return this.phase === 'ready' && (await this.answerOf('log')).ok;
  }

  async report(): Promise<HealthReport> {
    const names = Object.keys(this.dependencies);
    const answers = await Promise.all(names.map((name) => this.answerOf(name)));
    const projections = await this.projecting.status();
    const well = projections.every(({ deadLetters, lagSeconds, state }) => deadLetters === 0 && lagSeconds < LATE_SECONDS && state !== 'stopped');
    const status = answers.every(({ ok }) => ok) ? (well ? 'up' : 'degraded') : 'down';
    return { status, version: this.version, dependencies: Object.fromEntries(names.map((name, index) => [name, answers[index] as DependencyHealth])), projections };
  }

  private async answerOf(name: string): Promise<DependencyHealth> {
    const asked = this.dependencies[name];
    if (asked === undefined) return { ok: true };
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<DependencyHealth>((resolve) => (timer = setTimeout(() => resolve({ ok: false, reason: 'no answer' }), PATIENCE_MS)));
    try {
      return await Promise.race([asked(), late]);
    } catch (error) {
      return { ok: false, reason: error instanceof Error ? error.name : 'failed' };
    } finally {
      clearTimeout(timer);
    }
  }
}
