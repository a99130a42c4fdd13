import type { Command } from 'commander';
import { EXIT } from '../exit-codes';
import { duration, table } from '../output';
import { type Run, type Verb } from '../session';
import { type PlatformClient, Refused } from '../platform-client';
import { allProjections, type ProjectionStatus } from '../projections';

interface Health {
  readonly status: 'up' | 'degraded' | 'down';
  readonly version: string;
  readonly dependencies: Readonly<Record<string, { readonly ok: boolean; readonly reason?: string }>>;
  readonly projections: readonly ProjectionStatus[];
}

/** Ends with `EXIT.foundWrong` when a dependency is down, or a view is late or holds dead letters. */
const status: Verb<[]> = async ({ api, output }) => {
  const health = await healthOf(api);
  output.result(health, () => [`${api.url} is ${health.status} (version ${health.version})`, '', ...dependencyLines(health), '', ...projectionLines(health.projections)]);
  return health.status === 'up' ? EXIT.done : EXIT.foundWrong;
};

/** The report is the same where the answer is 503 since something is down. */
const healthOf = async (api: PlatformClient): Promise<Health> => {
  try {
    return await api.json<Health>('/health');
  } catch (error) {
    if (error instanceof Refused && 'dependencies' in error.facts) return error.facts as unknown as Health;
    throw error;
  }
};

const projections: Verb<[]> = async ({ api, output }) => output.result(await allProjections(api), projectionLines);

const dependencyLines = ({ dependencies }: Health): readonly string[] =>
  table(Object.entries(dependencies), { dependency: ([name]) => name, state: ([, { ok }]) => (ok ? 'ok' : 'down'), reason: ([, { reason }]) => reason });

const projectionLines = (items: readonly ProjectionStatus[]): readonly string[] =>
  table(items, {
    projection: ({ name }) => name,
    version: ({ version }) => version,
    state: ({ state }) => state,
    rows: ({ rows }) => rows,
    'lag (events)': ({ lagEvents }) => lagEvents,
    'lag (time)': ({ lagSeconds }) => duration(lagSeconds),
    'dead letters': ({ deadLetters }) => deadLetters,
    rebuild: ({ rebuild }) => (rebuild === undefined ? undefined : `v${rebuild.version} ${rebuild.state}`),
  });

export const addStatusVerbs = (program: Command, run: Run): void => {
  program.command('status').description('health of the server, its dependencies and its views').action(run(status));
  program.command('projections').description('every view: version, state, lag, rows, dead letters').action(run(projections));
};
