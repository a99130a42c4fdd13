import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServedRoute } from '@app/http';
import { projections } from '@app/hosting';
import { startTestPlatform, type TestPlatform } from './harness';
import { makeWorld, type World } from './world';

let platform: TestPlatform;
let world: World;
let routes: readonly ServedRoute[];
/** The views that the request reads which asks in this context. */
const reading = new AsyncLocalStorage<Set<string>>();

beforeAll(async () => {
  platform = await startTestPlatform();
  world = await makeWorld(platform);
  routes = platform.platform.routes.routes.filter(({ method }) => method === 'GET');
  const { readStore, searchIndex } = platform.platform.host.stores;
  for (const [store, methods] of [
    [readStore, ['get', 'getMany', 'find', 'count']],
    [searchIndex, ['search', 'scopesWith']],
  ] as const)
    for (const name of methods) noteView(store as never, name as never);
});
afterAll(async () => {
  jest.restoreAllMocks();
  await platform.stop();
});

const noteView = (store: Record<string, (view: string, ...rest: unknown[]) => unknown>, name: string): void => {
  const original = (store[name] as (view: string) => unknown).bind(store);
  jest.spyOn(store, name).mockImplementation((view, ...rest) => {
    reading.getStore()?.add(view);
    return (original as (view: string, ...rest: unknown[]) => unknown)(view, ...rest);
  });
};

/** These tell how views are doing, and ask them for that alone. */
const OF_VIEWS = ['/health', '/metrics', '/api/v1/operations/projections', '/api/v1/operations/projections/:name'];

/** A stream goes on until its client leaves. */
const ends = ({ declaration: { mediaType, answers } }: ServedRoute): boolean =>
  mediaType !== 'text/event-stream' || Object.values(answers ?? {}).some((schema) => schema !== null);

describe('@Reads', () => {
  it('names every view that a route answers from', async () => {
    const found: string[] = [];
    let served = 0;
    for (const route of routes.filter((each) => ends(each) && !OF_VIEWS.includes(each.url))) {
      const views = new Set<string>();
      const { status } = await reading.run(views, () => platform.call(world.path(route)));
      if (status === 200 && views.size > 0) served += 1;
      const undeclared = [...views].filter((view) => !(route.declaration.reads ?? []).includes(view));
      if (undeclared.length > 0) found.push(`${route.url}: ${undeclared.join(', ')}`);
    }
    expect(found).toEqual([]);
    expect(served).toBeGreaterThan(20);
  });

  it('names views alone', () => {
    const views = projections.map(({ name }) => name);
    const reads = routes.flatMap(({ declaration }) => declaration.reads ?? []);
    expect(reads.length).toBeGreaterThan(20);
    expect(reads.filter((view) => !views.includes(view))).toEqual([]);
  });
});
