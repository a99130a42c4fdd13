import type { Command } from 'commander';
import { EXIT } from '../exit-codes';
import { duration, table } from '../output';
import { run, type Verb } from '../session';
import { allProjections, type ProjectionStatus } from '../projections';

interface Health {
  readonly status: string;
  readonly dependencies: Readonly<Record<string, { readonly ok: boolean; readonly reason?: string }>>;
}

/** Ends with `EXIT.foundWrong` when a dependency is down. */
const status: Verb<[]> = async ({ api, output }) => {
  const health = await api.json<Health>('/health');
  const projections = await allProjections(api);
  output.result({ ...health, projections }, () => [`${api.url} is ${health.status}`, '', ...dependencyLines(health), '', ...projectionLines(projections)]);
  return Object.values(health.dependencies).every(({ ok }) => ok) ? EXIT.done : EXIT.foundWrong;
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

export const addStatusVerbs = (program: Command): void => {
  program.command('status').description('health of the server, its dependencies and its views').action(run(status));
  program.command('projections').description('every view: version, state, lag, rows, dead letters').action(run(projections));
};
