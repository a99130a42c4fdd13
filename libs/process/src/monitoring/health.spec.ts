import { Unavailable } from '@app/kernel';
import type { ProjectionStatus } from '@app/projecting';
import { until } from '../../../../test/fixtures/until';
import { Health, type HealthParts } from './health';

const current: ProjectionStatus = {
  name: 'agents',
  version: 1,
  state: 'live',
  position: '7',
  head: '7',
  lagEvents: 0,
  lagSeconds: 0,
  rows: 2,
  deadLetters: 0,
};

/** Health of a process whose views answer as they are made to. */
const healthOf = (status: () => Promise<readonly ProjectionStatus[]>): Health => {
  const none = async () => [];
  // Of the other parts health asks for lists alone, which are empty here.
  return new Health({
    dependencies: { log: async () => ({ ok: true }) },
    optional: {},
    projecting: { status, names: () => ['agents', 'users'] },
    policies: { status: none },
    leases: { processes: { status: none }, status: none },
    foreignEvents: async () => ({ events: 0, since: null }),
    unprovenEvents: async () => ({ events: 0, at: null }),
    reindexing: async () => ({ due: false, jobs: { running: 0, paused: 0, ready: 0, failed: 0 }, open: [] }),
    providers: () => [],
    version: '1',
  } as unknown as HealthParts);
};

const unknown = (name: string) => ({
  name,
  version: 0,
  state: 'unknown',
  lagEvents: null,
  lagSeconds: null,
  deadLetters: 0,
});

describe('health', () => {
  afterEach(() => jest.useRealTimers());

  it('names every view, also when none could be asked, and is not up then', async () => {
    const health = healthOf(() => Promise.reject(new Unavailable('views', 'away')));
    expect(await health.report()).toMatchObject({
      status: 'degraded',
      projections: [unknown('agents'), unknown('users')],
    });
  });

  it('names every view when they do not answer in time, and shows what they said last once they did', async () => {
    jest.useFakeTimers();
    let answer: () => Promise<readonly ProjectionStatus[]> = () => new Promise(() => undefined);
    const health = healthOf(() => answer());
    const first = health.report();
    await jest.advanceTimersByTimeAsync(2_000);
    expect(await first).toMatchObject({ status: 'degraded', projections: [unknown('agents'), unknown('users')] });

    answer = async () => [current];
    const other = healthOf(() => answer());
    expect(await other.report()).toMatchObject({ status: 'up', projections: [current] });
    answer = () => new Promise(() => undefined);
    const late = other.report();
    await jest.advanceTimersByTimeAsync(2_000);
    expect((await late).projections).toEqual([current]);
  });

  it('asks the views once for all who ask meanwhile', async () => {
    let asked = 0;
    const answers: (() => void)[] = [];
    const health = healthOf(() => new Promise((resolve) => ((asked += 1), answers.push(() => resolve([current])))));
    const reports = [health.report(), health.report(), health.report()];
    await until(() => answers.length > 0);
    for (const give of answers) give();
    await Promise.all(reports);
    expect(asked).toBe(1);
  });
});
