import type { Command } from 'commander';
import { EXIT } from '../exit-codes';
import { counted, duration, table } from '../output';
import { type Run, type Verb } from '../session';
import { type PlatformClient, Rejected } from '../platform-client';
import { allProjections, type ProjectionStatus } from '../projections';

interface Health {
  readonly status: 'up' | 'degraded' | 'down';
  readonly version: string;
  readonly dependencies: Readonly<Record<string, { readonly ok: boolean; readonly reason?: string }>>;
  readonly processes: readonly Process[];
  readonly policies: readonly Policy[];
  readonly projections: readonly ProjectionStatus[];
  readonly unprovenEvents?: { readonly events: number; readonly at: string | null };
  readonly reindex?: {
    readonly due: boolean;
    readonly jobs: Readonly<Record<string, number>>;
    readonly open: readonly ReindexJob[];
  };
  readonly foreignEvents?: {
    readonly events: number;
    readonly since: { readonly position: string; readonly at: string } | null;
  };
}

interface ReindexJob {
  readonly scope: 'agent' | 'space' | 'instance';
  readonly id: string | null;
  readonly state: string;
  readonly startedAt: string;
  readonly progress: { readonly done: number; readonly total: number } | null;
}

interface Process {
  readonly id: string;
  readonly roles: readonly string[];
  readonly version: string;
  readonly startedAt: string;
  readonly beatAt: string;
  readonly alive: boolean;
  /** Units of shared work by group, such as the slices of a view. */
  readonly holds: Readonly<Record<string, readonly number[]>>;
}

interface Policy {
  readonly name: string;
  readonly state: 'running' | 'stopped';
  /** Null where it is not known. */
  readonly lagEvents: number | null;
  readonly lagSeconds: number | null;
  readonly deadLetters: number;
  readonly failure?: { readonly type: string; readonly attempts: number; readonly detail: string };
}

/** Ends with `EXIT.foundWrong` if a dependency is down, or a view is late or has dead letters. */
const status: Verb<[]> = async ({ api, output }) => {
  const health = await healthOf(api);
  output.result(health, (_, width) => [
    `${api.url} is ${health.status} (version ${health.version})`,
    '',
    ...dependencyLines(health, width),
    '',
    ...processLines(health, width),
    '',
    ...policyLines(health, width),
    '',
    ...projectionLines(health.projections, width),
    ...foreignLines(health),
    ...unprovenLines(health),
    ...reindexLines(health, width),
  ]);
  return health.status === 'up' ? EXIT.done : EXIT.foundWrong;
};

/** The report has the same form if something is down. */
const healthOf = async (api: PlatformClient): Promise<Health> => {
  try {
    return await api.json<Health>('/health');
  } catch (error) {
    if (error instanceof Rejected && isHealth(error.facts)) return error.facts;
    throw error;
  }
};

/** The body of a 503 of this route is the report, which the client hands on as the facts of a problem. */
const isHealth = (facts: object): facts is Health => 'dependencies' in facts;

const projections: Verb<[]> = async ({ api, output }) => output.result(await allProjections(api), projectionLines);

const dependencyLines = ({ dependencies }: Health, width: number): readonly string[] =>
  table(
    Object.entries(dependencies),
    { dependency: ([name]) => name, state: ([, { ok }]) => (ok ? 'ok' : 'down'), reason: ([, { reason }]) => reason },
    width,
  );

/** They stop nothing. The log is shown without them. */
const foreignLines = ({ foreignEvents: { events, since } = { events: 0, since: null } }: Health): readonly string[] =>
  since === null
    ? []
    : [
        '',
        `Other programs wrote to the server of the log: ${counted(events, 'event')} known, since ${since.at} (position ${since.position}). They are not part of it.`,
      ];

const unprovenLines = ({ unprovenEvents: { events, at } = { events: 0, at: null } }: Health): readonly string[] =>
  events === 0
    ? []
    : [
        '',
        `NOT PROVEN: ${counted(events, 'event was', 'events were')} appended without SEAL_KEY, last found ${at ?? 'at an unknown time'}. Run verify. Somebody wrote to the store directly, or a process uses another key.`,
      ];

/** It stops nothing either: documents are found by the vectors that they have. */
const reindexLines = ({ reindex }: Health, width: number): readonly string[] => {
  if (reindex === undefined) return [];
  const jobs = Object.entries(reindex.jobs).flatMap(([state, many]) => (many === 0 ? [] : [`${many} ${state}`]));
  return [
    '',
    [
      ...(reindex.due ? ['Documents have vectors of another model than the configured one: re-index them.'] : []),
      ...(jobs.length > 0 ? [`Re-index jobs: ${jobs.join(', ')}.`] : []),
    ].join(' '),
    ...jobTable(reindex, width),
  ];
};

const jobTable = ({ jobs, open }: NonNullable<Health['reindex']>, width: number): readonly string[] => {
  if (open.length === 0) return [];
  const unnamed = Object.values(jobs).reduce((sum, many) => sum + many, 0) - open.length;
  return [
    '',
    ...table(
      open,
      {
        're-index of': ({ scope, id }) => (id === null ? scope : `${scope} ${id}`),
        state: ({ state }) => state,
        documents: ({ progress }) => (progress === null ? undefined : `${progress.done} of ${progress.total}`),
        started: ({ startedAt }) => startedAt,
      },
      width,
    ),
    ...(unnamed > 0 ? [`And ${unnamed} more.`] : []),
  ];
};

const processLines = ({ processes }: Health, width: number): readonly string[] =>
  table(
    processes,
    {
      process: ({ id }) => id,
      roles: ({ roles }) => roles.join(' '),
      version: ({ version }) => version,
      state: ({ alive }) => (alive ? 'alive' : 'silent'),
      started: ({ startedAt }) => startedAt,
      heard: ({ beatAt }) => beatAt,
      holds: ({ holds }) =>
        Object.entries(holds)
          .map(([group, units]) => (units.join() === '0' ? group : `${group}:${units.join()}`))
          .join(' ') || undefined,
    },
    width,
  );

const policyLines = ({ policies }: Health, width: number): readonly string[] =>
  table(
    policies,
    {
      policy: ({ name }) => name,
      state: ({ state }) => state,
      'lag (events)': ({ lagEvents }) => lagEvents ?? 'unknown',
      'lag (time)': ({ lagSeconds }) => (lagSeconds === null ? 'unknown' : duration(lagSeconds)),
      'dead letters': ({ deadLetters }) => deadLetters,
      failing: ({ failure }) =>
        failure === undefined ? undefined : `${failure.type}, ${failure.attempts} tries: ${failure.detail}`,
    },
    width,
  );

const projectionLines = (items: readonly ProjectionStatus[], width: number): readonly string[] =>
  table(
    items,
    {
      projection: ({ name }) => name,
      version: ({ version }) => version,
      state: ({ state }) => state,
      rows: ({ rows }) => rows,
      'lag (events)': ({ lagEvents }) => lagEvents ?? 'unknown',
      'lag (time)': ({ lagSeconds }) => (lagSeconds === null ? 'unknown' : duration(lagSeconds)),
      'dead letters': ({ deadLetters }) => deadLetters,
      rebuild: ({ rebuild }) => (rebuild === undefined ? undefined : `v${rebuild.version} ${rebuild.state}`),
    },
    width,
  );

export const addStatusVerbs = (program: Command, run: Run): void => {
  program
    .command('status')
    .description('show the health of the server, its dependencies, processes, policies and views')
    .action(run(status));
  program
    .command('projections')
    .description('list every view: version, state, lag, rows, dead letters')
    .action(run(projections));
};
