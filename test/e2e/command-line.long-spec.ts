import { join } from 'node:path';
import Database from 'better-sqlite3';
import { operate } from '../../apps/operator/src/program';
import { until } from '../fixtures/until';
import { ADMIN_KEY, startTestPlatform, type TestPlatform } from './harness';

let platform: TestPlatform;
beforeAll(async () => (platform = await startTestPlatform({ listen: true })));
afterAll(() => platform.stop());

const operator = async (...words: readonly string[]) => {
  const out: string[] = [];
  const err: string[] = [];
  const code = await operate(['--url', platform.url, '--api-key', ADMIN_KEY, '--json', ...words], {
    stdout: { write: (text: string) => out.push(text) },
    stderr: { write: (text: string) => err.push(text) },
  });
  return { code, err: err.join(''), results: out.map((line) => JSON.parse(line) as Record<string, unknown>) };
};

const create = async (path: string, body: unknown) =>
  (await platform.call<{ id: string }>(`/api/v1/core/${path}`, { method: 'POST', body })).body.id;

/** Position of the newest event of a stream, once it is sealed. */
const sealed = async (stream: string): Promise<string> => {
  let position = '';
  await until(async () => {
    const [event] = (
      await platform.call<{ items: { position: string; ordinal: number | null }[] }>(
        `/api/v1/audit/events?stream=${stream}`,
      )
    ).body.items;
    position = event?.position ?? '';
    return (event?.ordinal ?? null) !== null;
  }, 'the seal');
  return position;
};

describe('the command line against a running product', () => {
  it('rebuilds a view, shows it and serves it', async () => {
    expect(await operator('rebuild', 'spaces', '--swap', '--watch')).toMatchObject({
      code: 0,
      results: [{ name: 'spaces', version: 2, rebuild: { state: 'swapped' } }],
    });
    expect(await operator('retire', 'spaces')).toMatchObject({ code: 0, results: [{ version: 2 }] });
    expect(await operator('status')).toMatchObject({ code: 0, results: [{ status: 'up' }] });
    expect(await operator('dead-letters')).toMatchObject({ code: 0, results: [[]] });
  });

  it('shows the history of an object and what it was', async () => {
    const id = await create('spaces', { name: 'First' });
    await platform.call(`/api/v1/core/spaces/${id}`, { method: 'PUT', body: { name: 'Second' } });
    const { results } = await operator('history', 'space', id);
    expect(results.map(({ type }) => type)).toEqual(['SpaceChanged', 'SpaceCreated']);
    expect((await operator('as-of', 'space', id, String(results[1]?.['position']))).results).toMatchObject([
      { name: 'First' },
    ]);
    expect(await operator('as-of', 'space', id, '2020-01-01')).toMatchObject({
      code: 1,
      err: expect.stringContaining('not_found') as unknown,
    });
  });

  it('proves the log sound from outside, and finds a tail that was cut off', async () => {
    await sealed(`space-${await create('spaces', { name: 'Sealed' })}`);
    const { code, results } = await operator('verify');
    expect([code, results[0]?.['ok']]).toEqual([0, true]);
    const known = results[0]?.['lastSeal'] as { ordinal: number; hash: string };
    expect((await operator('verify', '--since', `${known.ordinal}:${known.hash}`)).code).toBe(0);
    const cut = await operator('verify', '--since', `${known.ordinal + 1_000}:${known.hash}`);
    expect([cut.code, cut.results[0]?.['findings']]).toEqual([3, [expect.objectContaining({ kind: 'tail_cut' })]]);
  });

  it('finds an event that was changed behind the back of the running product, with its place', async () => {
    const id = await create('spaces', { name: 'Tampered with' });
    const position = await sealed(`space-${id}`);
    const database = new Database(join(platform.dataDir, 'log', 'events.sqlite'));
    const changed = database
      .prepare('UPDATE events SET type = ? WHERE position = ?')
      .run('SpaceCreatef', Number(position)).changes;
    database.close();
    expect(changed).toBe(1);
    const { code, results } = await operator('verify');
    expect(code).toBe(3);
    expect(JSON.stringify(results[0]?.['findings'])).toContain(position);
  });
});
