import type { ServedRoute } from '@app/http';
import fc from 'fast-check';
import { z } from 'zod';
import { nearly, oddText } from '../fixtures/odd-input';
import { type Answer, type Call, startTestPlatform, type TestPlatform } from '../e2e/harness';
import { makeWorld, type World } from '../e2e/world';

/** Inputs of one route. */
const RUNS = Number(process.env['ODD_INPUTS'] ?? 25);

let platform: TestPlatform;
let world: World;
let routes: readonly ServedRoute[];
beforeAll(async () => {
  platform = await startTestPlatform();
  world = await makeWorld(platform);
  // PATCH is PUT; streams of events do not end.
  routes = platform.platform.routes.routes.filter(
    ({ method, url }) => !['HEAD', 'PATCH'].includes(method) && !url.endsWith('/documents/events'),
  );
});
afterAll(() => platform.stop());

/** Fails with the input, made as small as it goes, for which a route fails in a way that nobody foresaw. */
const neverFails = <T>(given: fc.Arbitrary<T>, ask: (input: T) => Promise<Answer>): Promise<void> =>
  fc.assert(
    fc.asyncProperty(given, async (input) => {
      const { status, text } = await ask(input);
      if (status === 500) throw new Error(`${status} ${text}`);
    }),
    { numRuns: RUNS },
  );

/** Clients take `.` and `..` out of a path before they send it, which leads to another route. */
const at = (url: string, part: string): string =>
  url.replace(/:\w+|\*/g, () => (/^\.{0,2}$/.test(part) ? 'x' : encodeURIComponent(part)));
const send = (route: ServedRoute, path: string, call: Call): Promise<Answer> =>
  platform.call(path, { method: route.method as 'POST', ...call });

it('no body makes a route fail, however close it is to one that is taken', async () => {
  for (const route of routes.filter(({ declaration }) => declaration.body !== undefined)) {
    const schema = z.toJSONSchema(route.declaration.body?.schema as z.ZodType, { io: 'input', unrepresentable: 'any' });
    await neverFails(nearly(schema, Object.values(world.ids)), (body) => send(route, world.path(route), { body }));
  }
});

it('no query and no path does', async () => {
  for (const route of routes.filter(({ method }) => method === 'GET')) {
    const names = Object.keys(route.declaration.query?.shape ?? { x: 1 }).filter((name) => name !== 'follow');
    const value = fc.oneof(
      oddText,
      fc.constantFrom(
        '10',
        'true',
        'day',
        'model',
        'asc',
        '2026-01-01T00:00:00Z',
        '1',
        '0000000000000001',
        ...Object.values(world.ids),
      ),
    );
    await neverFails(
      fc.tuple(fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 3 }), fc.option(oddText)),
      ([query, part]) =>
        send(route, `${part === null ? world.path(route) : at(route.url, part)}?${new URLSearchParams(query)}`, {}),
    );
  }
});

it('no path and no header of a write does', async () => {
  const printable = oddText.map((text) => text.replace(/[^\x20-\x7e]/g, ''));
  const headers = fc.record(
    {
      'if-match': fc.oneof(printable, fc.constantFrom('"0"', '*', '"99999999999999999"', '""', '"-1"')),
      'idempotency-key': printable,
      'x-request-id': printable,
      'last-event-id': printable,
    },
    { requiredKeys: [] },
  );
  for (const route of routes.filter(({ method, url }) => method !== 'GET' && url.includes(':'))) {
    await neverFails(fc.tuple(oddText, headers), ([part, given]) =>
      send(route, at(route.url, part), {
        headers: given,
        ...(route.declaration.body === undefined ? {} : { body: {} }),
      }),
    );
  }
});
