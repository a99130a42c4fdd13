import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventCatalogue } from '@app/hosting';
import { sealOf } from '@app/sealing';
import { operate } from '../../apps/operator/src/program';
import { asAnother, foreignEvents, intruderIn, writeForeign } from '../fixtures/foreign-events';
import { until } from '../fixtures/until';
import { type EventStoreDouble, startEventStoreDouble } from '../servers/eventstoredb/double';
import { ADMIN_KEY, type Answer, startTestPlatform, type TestPlatform } from './harness';
import { allReached, fill } from './whole-instance';

/** The whole product on a server that other programs write, too: before its first start, while it runs, and into its own streams. On the double, or on the server of `EMPTY_EVENTSTORE_URL`. */

interface Event {
  readonly stream: string;
  readonly position: string;
  readonly ordinal: number | null;
}

const CORE = '/api/v1/core';
const FOREIGN = foreignEvents().length;

describe('on a server that is shared, and runs its standard projections', () => {
  let folder: string;
  let server: Pick<EventStoreDouble, 'url' | 'stop'>;
  let platform: TestPlatform;
  const environment = () => ({ EVENTSTORE_URL: server.url });
  const given = process.env['EMPTY_EVENTSTORE_URL'];
  const start = async (): Promise<TestPlatform> =>
    startTestPlatform({ environment: environment(), dataDir: join(folder, 'data'), listen: true });

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'shared-'));
    server =
      given === undefined
        ? await startEventStoreDouble({ projections: true })
        : { url: given, stop: async () => undefined };
    await writeForeign(server.url);
    platform = await start();
  });
  afterAll(async () => {
    await platform.stop();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The command line: on the running product, or on the stores that the environment names. */
  const operator = async (onStores: boolean, ...words: readonly string[]) => {
    const out: string[] = [];
    const before = process.env;
    if (onStores) process.env = { ...before, ...environment(), DATA_DIR: join(folder, 'data') };
    try {
      const at = onStores ? [] : ['--url', platform.url, '--api-key', ADMIN_KEY];
      const stream = { write: (text: string) => out.push(text) > 0, isTTY: false };
      const code = await operate([...at, ...words], { stdout: stream, stderr: stream });
      return { code, text: out.join('') };
    } finally {
      process.env = before;
    }
  };
  const result = async (onStores: boolean, ...words: readonly string[]) => {
    const { code, text } = await operator(onStores, ...words, '--json');
    return { code, ...(JSON.parse(text.trim().split('\n').at(-1) ?? '') as Record<string, unknown>) };
  };
  /** Everything that is there is in the views, and under a seal. */
  const settled = async (): Promise<void> => {
    await allReached(platform, (await platform.platform.host.stores.log.head()) ?? '');
    await until(async () => {
      const [last] = (await platform.call<{ items: Event[] }>('/api/v1/audit/events?limit=1')).body.items;
      return last?.stream === 'sealLog-1' && platform.platform.host.sealer.waiting === 0;
    }, 'the seals');
  };
  const audited = async (query = ''): Promise<readonly Event[]> => {
    const found: Event[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { status, body }: Answer<{ items: Event[]; nextCursor: string | null }> = await platform.call(
        `/api/v1/audit/events?limit=100${query}${cursor === '' ? '' : `&cursor=${cursor}`}`,
      );
      expect(status).toBe(200);
      found.push(...body.items);
      cursor = body.nextCursor;
    }
    return found;
  };
  const create = async (path: string, body: object) =>
    (await platform.call<{ id: string }>(`${CORE}${path}`, { method: 'POST', body })).body.id;
  /** On a busy machine a view may be late for a moment, or a store slow to answer. */
  const isUp = () =>
    until(async () => (await platform.call<{ status: string }>('/health')).body.status === 'up', 'health');
  const known = async () =>
    (await platform.call<{ foreignEvents?: { events: number; since: { position: string; at: string } } }>('/health'))
      .body.foreignEvents;

  it('starts for the first time, and makes its keys', async () => {
    expect(existsSync(join(folder, 'data', 'keys', 'VAULT_KEY'))).toBe(true);
    await isUp();
    expect((await platform.call<{ items: unknown[] }>(`${CORE}/users`)).body.items).toHaveLength(1);
    await until(async () => (await known())?.events === FOREIGN, 'the count');
  });

  it('does its work beside what others write, and shows, seals and counts none of it', async () => {
    await fill(platform);
    await writeForeign(server.url);
    await create('/spaces', { name: 'Later' });
    await settled();

    const events = await audited();
    expect(events.filter(({ stream }) => !eventCatalogue.isOurStream(stream))).toEqual([]);
    expect(events.map(({ stream }) => stream)).toEqual(
      expect.not.arrayContaining(foreignEvents().map(({ stream }) => stream)),
    );
    // What the product does by itself goes on meanwhile.
    const upwards = (await audited('&order=asc')).map(({ position }) => position);
    expect(upwards.length).toBeGreaterThanOrEqual(events.length);
    expect(
      (await audited())
        .map(({ position }) => position)
        .toReversed()
        .slice(0, upwards.length),
    ).toEqual(upwards);
    for (const { stream } of foreignEvents())
      expect(await audited(`&stream=${encodeURIComponent(stream.replace(/[^ -~]/gu, '?'))}`)).toEqual([]);
    const { log } = platform.platform.host.stores;
    const sealed = (await log.readStream('sealLog-1')).flatMap((event) =>
      sealOf(event).events.map((entry) => entry.split(' ').slice(3).join(' ')),
    );
    expect(sealed.filter((stream) => !eventCatalogue.isOurStream(stream))).toEqual([]);
    const numbered = events.filter(({ ordinal }) => ordinal !== null).map(({ ordinal }) => ordinal as number);
    expect(Math.max(...numbered)).toBe(numbered.length);

    let views: readonly { readonly lagEvents: number; readonly deadLetters: number; readonly state: string }[] = [];
    await until(async () => {
      views = (await platform.call<{ items: typeof views }>('/api/v1/operations/projections')).body.items;
      return views.every(({ lagEvents }) => lagEvents === 0);
    }, 'every view at the end of the log');
    for (const view of views) expect(view).toMatchObject({ deadLetters: 0, state: 'live' });
    await isUp();
  });

  it('says that they are there, how many are known and since when', async () => {
    await until(async () => (await known())?.events === 2 * FOREIGN, 'the count');
    const status = await operator(false, 'status');
    expect(status).toMatchObject({
      code: 0,
      text: expect.stringMatching(
        new RegExp(`server of the log: ${2 * FOREIGN} events known, since \\d{4}-\\d\\d-\\d\\dT`),
      ),
    });
    const online = await result(false, 'verify');
    expect(online).toMatchObject({
      code: 0,
      ok: true,
      findings: [],
      foreign: { events: 2 * FOREIGN, since: (await known())?.since },
    });
    expect((await operator(false, 'verify')).text).toContain(
      `Other programs wrote to the same server: ${2 * FOREIGN} events since `,
    );
    const pages = await platform.call<{ items: unknown[]; others: object }>('/api/v1/audit/foreign-events');
    expect(pages.body).toMatchObject({ items: [], others: { events: 2 * FOREIGN }, nextCursor: null });
    expect(
      (await platform.call('/api/v1/audit/foreign-events', { key: (await platform.newCaller()).key })).status,
    ).toBe(403);
  });

  it('rebuilds its views equal', async () => {
    const { projecting } = platform.platform.host;
    for (const view of ['users', 'audit-trail']) {
      await projecting.rebuild(view).start({ swap: true });
      await until(async () => (await projecting.rebuild(view).status())?.state === 'swapped', `the rebuild of ${view}`);
      expect((await projecting.rebuild(view).status())?.verification).toMatchObject({ equal: true });
    }
  });

  it('is verified and exported without them where it is at rest, and starts again', async () => {
    await settled();
    await platform.stop({ keep: true });
    expect(await result(true, 'verify')).toMatchObject({
      code: 0,
      ok: true,
      findings: [],
      foreign: { events: 2 * FOREIGN },
    });
    const file = join(folder, 'export.jsonl');
    expect((await operator(true, 'export', file)).code).toBe(0);
    const exported = readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('{"stream":'))
      .map((line) => JSON.parse(line) as Event);
    expect(
      exported.filter(
        ({ stream }) =>
          !eventCatalogue.isOurStream(stream) || foreignEvents().some((foreign) => foreign.stream === stream),
      ),
    ).toEqual([]);
    expect(await result(true, 'verify', file)).toMatchObject({ code: 0, ok: true, foreign: { events: 0 } });

    await writeForeign(server.url, [intruderIn('orders-9')]);
    platform = await start();
    expect(
      (await platform.call<{ items: { name: string }[] }>(`${CORE}/spaces`)).body.items.map(({ name }) => name),
    ).toContain('Later');
    await until(async () => (await known())?.events === 2 * FOREIGN + 1, 'the count');
  });

  it('shows a stream of its own as it was before others wrote into it, writes it no more, and names it', async () => {
    const spaceId = await create('/spaces', { name: 'Invaded' });
    const agent = await create('/agents', { spaceId, name: 'Invaded' });
    const other = await create('/agents', { spaceId, name: 'Spared' });
    await settled();
    await writeForeign(server.url, [intruderIn(`agent-${agent}`), intruderIn(`agent-${agent}`)]);

    expect((await platform.call<{ name: string }>(`${CORE}/agents/${agent}`)).body.name).toBe('Invaded');
    expect(
      (await platform.call<{ items: unknown[] }>(`/api/v1/audit/objects/agent/${agent}/history`)).body.items,
    ).toHaveLength(1);
    const rejected = await platform.call<{ detail: string; errors: object[] }>(`${CORE}/agents/${agent}`, {
      method: 'PUT',
      body: { name: 'Changed' },
    });
    expect([rejected.status, rejected.body]).toMatchObject([
      500,
      { code: 'log_damaged', errors: [{ path: `agent-${agent}@1`, code: 'log_damaged' }] },
    ]);
    expect(rejected.body.detail).toContain('another program');
    expect((await platform.call(`${CORE}/agents/${other}`, { method: 'PUT', body: { name: 'Changed' } })).status).toBe(
      200,
    );
    expect((await platform.call(`${CORE}/agents`, { method: 'POST', body: { spaceId, name: 'New' } })).status).toBe(
      201,
    );
    await isUp();

    await settled();
    const named = {
      code: 3,
      ok: false,
      findings: [expect.objectContaining({ kind: 'foreign', stream: `agent-${agent}`, revision: 1 })],
    };
    expect(await result(false, 'verify')).toMatchObject(named);
    await platform.stop({ keep: true });
    expect(await result(true, 'verify')).toMatchObject(named);
    platform = await start();
    expect((await platform.call<{ name: string }>(`${CORE}/agents/${agent}`)).body.name).toBe('Invaded');
  });

  it('had links and statistics beside its events all the while', async () => {
    const streams = await asAnother(server.url, async (client) => {
      const found = new Set<string>();
      for await (const { event } of client.readAll())
        if (event !== undefined) found.add(event.streamId.replace(/-.*/, ''));
      return found;
    });
    for (const name of ['$ce', '$et', '$bc', '$streams', '$category', '$stats', '$projections'])
      expect(streams).toContain(name);
  });
});
