import type { Child } from '../e2e/child';
import { type Called, type Cluster, eventually } from './cluster';

export const CORE = '/api/v1/core';
export const OPERATIONS = '/api/v1/operations/projections';

export interface List<T> {
  readonly items: readonly T[];
}

interface Health {
  readonly status: string;
  readonly processes: readonly {
    readonly id: string;
    readonly roles: readonly string[];
    readonly alive: boolean;
    readonly beatAt: string;
    readonly holds: Readonly<Record<string, readonly number[]>>;
  }[];
  readonly policies: readonly { readonly name: string; readonly state: string; readonly lagEvents: number }[];
  readonly projections: readonly {
    readonly name: string;
    readonly version: number;
    readonly state: string;
    readonly lagEvents: number;
  }[];
}
interface Event {
  readonly type: string;
  readonly stream: string;
}
interface Rebuild {
  readonly state: string;
  readonly failure?: object;
  readonly verification?: { readonly equal: boolean };
}

/** What operators and users see of a cluster through one of its API processes. */
export const watching = (cluster: () => Cluster) => {
  const health = async (child: Child): Promise<Health> => (await cluster().call<Health>(child, '/health')).body;
  const post = <T = { id: string }>(child: Child, path: string, body: object): Promise<Called<T>> =>
    cluster().call<T>(child, path, { method: 'POST', body });
  const events = async (child: Child, type: string): Promise<readonly Event[]> =>
    (await cluster().call<List<Event>>(child, `/api/v1/audit/events?type=${type}&limit=100`)).body.items;
  /** How many slices of one view each living projector holds, the oldest first. */
  const slices = async (child: Child, view = 'agents'): Promise<readonly number[]> =>
    (await health(child)).processes
      .filter(({ roles, alive }) => alive && roles.includes('projector'))
      .map(({ holds }) => holds[view]?.length ?? 0);
  const divided = (child: Child, ...shares: readonly number[]): Promise<void> =>
    eventually(async () => (await slices(child)).join() === shares.join(), `slices ${shares.join(' and ')}`);
  const settled = (child: Child): Promise<void> =>
    eventually(async () => {
      const { projections, policies } = await health(child);
      return (
        projections.length > 0 &&
        projections.every(({ state }) => state === 'live') &&
        policies.every(({ state }) => state === 'running')
      );
    }, 'views that are live');
  /** Two API processes and a projector, with every view live. */
  const startPair = async (): Promise<readonly [Child, Child]> => {
    const { start } = cluster();
    const [one, other] = await Promise.all([start('api'), start('api'), start('projector')]);
    await settled(one);
    return [one, other];
  };
  const rebuild = async (child: Child, view: string): Promise<Rebuild | undefined> =>
    (await cluster().call<{ rebuild?: Rebuild }>(child, `${OPERATIONS}/${view}`)).body.rebuild;

  /** Views are rebuilt from the log, must be equal to what was served, and are served; nothing was left aside. */
  const expectFreshFold = async (child: Child, ...views: readonly string[]): Promise<void> => {
    const begun = await Promise.all(
      views.map(async (name) => [name, (await post(child, `${OPERATIONS}/${name}/rebuild`, { swap: true })).status]),
    );
    expect(begun).toEqual(views.map((name) => [name, 202]));
    for (const name of views) {
      await eventually(
        async () => ['swapped', 'failed'].includes((await rebuild(child, name))?.state ?? ''),
        `the rebuild of ${name}`,
      );
      const { state, failure, verification } = (await rebuild(child, name)) ?? {};
      expect([name, state, failure, verification?.equal]).toEqual([name, 'swapped', undefined, true]);
    }
    expect((await cluster().call<List<object>>(child, '/api/v1/operations/dead-letters')).body.items).toEqual([]);
  };
  return { health, post, events, slices, divided, settled, startPair, rebuild, expectFreshFold };
};
