import type { ServedRoute } from '@app/http';
import type { Host } from '../e2e/host';
import type { NewEvent } from '@app/kernel';
import { startTestPlatform, type TestPlatform } from '../e2e/harness';
import { makeWorld, type World } from '../e2e/world';

/** Fault 47: an error that nobody foresaw, in any handler and at any step of a write. */
const SECRET = 'the failpoint tells no caller this';

let platform: TestPlatform;
let world: World;
let stores: Host['stores'];
beforeAll(async () => {
  platform = await startTestPlatform();
  world = await makeWorld(platform);
  stores = platform.platform.host.stores;
});
afterAll(() => platform.stop());

/** Makes a method fail where `when` says so, until undone. */
const failing = <T extends object, K extends keyof T>(
  object: T,
  method: K,
  when: (...args: readonly unknown[]) => boolean,
): (() => void) => {
  const own = Object.getOwnPropertyDescriptor(object, method);
  const real = (object[method] as (...args: readonly unknown[]) => unknown).bind(object);
  Object.defineProperty(object, method, {
    configurable: true,
    writable: true,
    value: (...args: readonly unknown[]) => (when(...args) ? Promise.reject(new Error(SECRET)) : real(...args)),
  });
  return () => (own === undefined ? delete object[method] : Object.defineProperty(object, method, own));
};

const isOfCaller = (events: readonly NewEvent[]): boolean =>
  events.some(({ metadata }) => !(JSON.parse(metadata) as { actor: string }).actor.startsWith('system:'));

it('every read: 500 to that caller, who learns nothing but the request id; the next one is served', async () => {
  const reads = platform.platform.routes.routes.filter(
    ({ method, url }) => method === 'GET' && url.startsWith('/api/v1/core/') && !url.endsWith('/events'),
  ); // Streams of events do not end.
  const works = async (route: ServedRoute): Promise<boolean> => (await platform.call(world.path(route))).status === 200;
  let failed = 0;
  for (const route of reads) {
    if (!(await works(route))) continue;
    const undo = [
      failing(stores.readStore, 'get', () => true),
      failing(stores.readStore, 'find', () => true),
      failing(stores.readStore, 'getMany', () => true),
    ];
    const { status, text, body } = await platform.call(world.path(route), {
      headers: { 'x-request-id': 'failing-read' },
    });
    for (const each of undo) each();
    expect([route.url, status === 200 || status === 500]).toEqual([route.url, true]);
    if (status === 500) {
      failed += 1;
      expect(body).toEqual({
        type: 'urn:problem:internal',
        title: 'Internal error',
        status: 500,
        code: 'internal',
        detail: expect.any(String) as string,
        requestId: 'failing-read',
      });
    }
    expect(text).not.toContain(SECRET);
    expect([route.url, await works(route)]).toEqual([route.url, true]);
  }
  expect(failed).toBeGreaterThan(5);
});

interface Write {
  readonly name: string;
  readonly path: () => string;
  readonly method: 'POST' | 'PUT' | 'DELETE';
  readonly body?: (round: number) => object;
  readonly status: number;
}

const writes: readonly Write[] = [
  {
    name: 'a Space',
    path: () => '/spaces',
    method: 'POST',
    body: (round) => ({ name: `Failing ${round}`, slug: `failing-${round}` }),
    status: 201,
  },
  {
    name: 'an Agent',
    path: () => '/agents',
    method: 'POST',
    body: (round) => ({ spaceId: world.ids['spaceId'], name: `Failing ${round}` }),
    status: 201,
  },
  {
    name: 'a user',
    path: () => '/users',
    method: 'POST',
    body: (round) => ({ email: `failing${round}@example.com`, name: 'F', role: 'admin' }),
    status: 201,
  },
  {
    name: 'a prompt',
    path: () => `/spaces/${world.ids['spaceId']}/prompts`,
    method: 'POST',
    body: (round) => ({ title: `Failing ${round}`, text: 'x' }),
    status: 201,
  },
  {
    name: 'a change',
    path: () => `/agents/${world.ids['agentId']}`,
    method: 'PUT',
    body: (round) => ({ name: `Changed ${round}` }),
    status: 200,
  },
];

it.each(writes)(
  '$name: whichever append fails, a repeat under the same Idempotency-Key completes it once',
  async ({ name, path, method, body, status }) => {
    for (let step = 1; ; step += 1) {
      let appends = 0;
      const undo = failing(
        stores.log,
        'append',
        (_stream, events) => isOfCaller(events as readonly NewEvent[]) && ++appends === step,
      );
      const send = () =>
        platform.call(`/api/v1/core${path()}`, {
          method,
          headers: { 'idempotency-key': `${name} ${step}` },
          body: body?.(step),
        });
      const [first, other] = await Promise.all([send(), platform.call('/health/live')]);
      undo();
      expect(other.status).toBe(200);
      if (appends < step) {
        expect(first.status).toBe(status);
        expect(step).toBeGreaterThan(1);
        return;
      }
      expect([step, first.status, first.text.includes(SECRET)]).toEqual([step, 500, false]);
      const [repeat, again] = [await send(), await send()];
      expect([step, repeat.status, repeat.text]).toEqual([step, status, again.text]);
    }
  },
);
