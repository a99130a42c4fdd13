import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { failureMessage } from '@app/knowledge';
import { operate } from '../../apps/operator/src/program';
import { until } from '../fixtures/until';
import { startTestPlatform, type TestPlatform } from './harness';
import { allReached, expectRowsFit } from './whole-instance';

interface Recorded {
  readonly key: string;
  /** What the API of that release showed when it was stopped, by path. */
  readonly answers: Readonly<Record<string, unknown>>;
}

const releases = join(__dirname, '..', 'fixtures', 'releases');
const names = readdirSync(releases).filter((name) => /^\d/.test(name));

let work: string;
let running: TestPlatform | undefined;
beforeEach(() => (work = mkdtempSync(join(tmpdir(), 'release-'))));
afterEach(async () => {
  await running?.stop({ keep: true });
  rmSync(work, { recursive: true, force: true });
});

const start = async (
  environment: Readonly<Record<string, string>> & { readonly DATA_DIR: string },
): Promise<TestPlatform> => (running = await startTestPlatform({ dataDir: environment.DATA_DIR, environment }));

const stop = async (platform: TestPlatform): Promise<void> => {
  running = undefined;
  await platform.stop({ keep: true });
};

const unpack = (release: string, archive: string): void =>
  void execFileSync('tar', ['-C', work, '-xzf', join(releases, release, archive)]);

const recorded = (release: string): Recorded =>
  JSON.parse(readFileSync(join(releases, release, 'answers.json'), 'utf8')) as Recorded;

const operator = async (
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<{ readonly code: number; readonly text: string }> => {
  let text = '';
  const stream = { write: (piece: string) => (text += piece) !== '', isTTY: false };
  const before = process.env;
  process.env = { ...before, ...environment };
  try {
    return { code: await operate(words, { stdout: stream, stderr: stream }), text };
  } finally {
    process.env = before;
  }
};

/** What moves by itself: when a key was last used, and what a limit has of the day, week or month that it is now. */
const MOVING = new Set(['lastUsedAt', 'window', 'windowStart', 'resetsAt', 'spent', 'held', 'remaining', 'overage']);
/** Fields that objects have gained since: their histories say so too. */
const GAINED = new Set(['enabled']);
const withoutGained = (changes: readonly { readonly path: string }[]): readonly object[] =>
  changes.filter(({ path }) => !GAINED.has(path));
/** Permissions that there were not: the bootstrap key gets them. */
const gainedPermission = (value: unknown): boolean => typeof value === 'string' && /^(skills|memory):/.test(value);
/** It changes by that. */
const isBootstrapKey = (value: unknown): value is object =>
  typeof value === 'object' &&
  value !== null &&
  'revision' in value &&
  'prefix' in value &&
  value.prefix === 'bootstrap';

/** What 1.5.0 said of every text that it could not read. It is worded anew. */
const NO_UTF8 = 'The file is not UTF-8 text.';

const settled = (answer: unknown): unknown =>
  JSON.parse(
    JSON.stringify(answer, (name, value: unknown) => {
      if (MOVING.has(name)) return undefined;
      if (value === NO_UTF8) return failureMessage('invalid_text');
      if (isBootstrapKey(value)) return { ...value, revision: undefined };
      if (name === 'permissions' && Array.isArray(value))
        return (value as unknown[]).filter((each) => !gainedPermission(each));
      return name === 'changes' && Array.isArray(value) ? withoutGained(value as { path: string }[]) : value;
    }),
  ) as unknown;

/** Seals are listed oldest first, and more come: as many as were recorded. */
const comparable = (path: string, answer: unknown, as: unknown): unknown => {
  if (!path.endsWith('/seals')) return settled(answer);
  return (answer as { items: unknown[] }).items.slice(0, (as as { items: unknown[] }).items.length);
};

const showsAll = async ({ call, platform: { host } }: TestPlatform, { key, answers }: Recorded): Promise<void> => {
  const head = (await host.stores.log.head()) ?? '';
  await until(() => host.sealer.waiting === 0, 'the seals');
  for (const view of host.projecting.names())
    await until(() => host.projecting.waitFor(view, head, 1_000), `the view ${view}`);
  for (const [path, shown] of Object.entries(answers)) {
    const { status, body, text } = await call(path, { key });
    expect({ path, status }).toEqual({ path, status: 200 });
    if (typeof shown === 'string') expect(text).toBe(shown);
    else
      expect({ path, body: comparable(path, body, shown) }).toMatchObject({
        path,
        body: comparable(path, shown, shown) as object,
      });
  }
};

/** What the log says of where its MACs begin: nothing that carries none is sealed behind it. */
const taken = async ({ platform: { host } }: TestPlatform): Promise<readonly object[]> =>
  (await host.stores.log.readStream('unproven-1')).map(({ type, data }) => ({ type, ...(JSON.parse(data) as object) }));

describe.each(names)('what release %s left', (release) => {
  it('opens, verifies, shows the same, goes on and rebuilds equal', async () => {
    unpack(release, 'data.tar.gz');
    const before = recorded(release);
    const environment = {
      DATA_DIR: join(work, 'data'),
      MODELS_FILE: join(work, 'models.json'),
      BOOTSTRAP_API_KEY: before.key,
    };
    expect(await operator(['verify'], environment)).toMatchObject({ code: 0 });
    const platform = await start(environment);
    await showsAll(platform, before);
    const { body: keys } = await platform.call<{ items: { name: string; permissions: string[] }[] }>(
      '/api/v1/core/api-keys',
      { key: before.key },
    );
    expect(keys.items.find(({ name }) => name === 'Bootstrap')?.permissions.filter(gainedPermission)).toHaveLength(4);
    expect(await taken(platform)).toEqual([
      expect.objectContaining({ type: 'UnprovenTailSealed', reason: 'earlier_version' }),
    ]);

    const later = await platform.call<{ id: string }>('/api/v1/core/spaces', {
      method: 'POST',
      key: before.key,
      body: { name: 'After the upgrade' },
    });
    expect((await platform.call(`/api/v1/core/spaces/${later.body.id}`, { key: before.key })).body['name']).toBe(
      'After the upgrade',
    );
    const { projecting } = platform.platform.host;
    for (const view of projecting.names()) {
      if ((await projecting.rebuild(view).status()) !== undefined) await projecting.rebuild(view).retire();
      await projecting.rebuild(view).start({ swap: true });
      await until(async () => (await projecting.rebuild(view).status())?.state === 'swapped', `the rebuild of ${view}`);
      expect({ view, verification: (await projecting.rebuild(view).status())?.verification }).toMatchObject({
        view,
        verification: { equal: true },
      });
    }
    expect(
      (await platform.call(`/api/v1/core/spaces/${later.body.id}`, { method: 'DELETE', key: before.key })).status,
    ).toBe(204);
    await allReached(platform, (await platform.platform.host.stores.log.head()) ?? '');
    await expectRowsFit(platform);
    await showsAll(platform, {
      ...before,
      answers: Object.fromEntries(Object.entries(before.answers).filter(([path]) => !path.includes('/usage'))),
    });
    await until(() => platform.platform.host.sealer.waiting === 0, 'the seals');
    await stop(platform);
    const { code, text } = await operator(['verify'], environment);
    expect(code).toBe(0);
    expect(text).toMatch(/Sealed without a MAC, by an earlier version or an import: [\d,]+ events up to ordinal \d+/);
    expect(text).not.toContain('Unproven');
  });

  it('is exported whole: the file verifies, and imports into an instance that shows the same', async () => {
    unpack(release, 'export.tar.gz');
    unpack(release, 'data.tar.gz');
    const keys = (name: string): string => readFileSync(join(work, 'data', 'keys', name), 'utf8').trim();
    const environment = {
      DATA_DIR: join(work, 'target'),
      MODELS_FILE: join(work, 'models.json'),
      BOOTSTRAP_API_KEY: recorded(release).key,
      VAULT_KEY: keys('VAULT_KEY'),
      SEAL_KEY: keys('SEAL_KEY'),
    };
    const file = join(work, 'export', 'log.jsonl');
    expect(await operator(['verify', file], {})).toMatchObject({ code: 0 });
    expect(
      await operator(
        ['import', file, '--keys', join(work, 'keys.jsonl'), '--blobs', join(work, 'export', 'blobs')],
        environment,
      ),
    ).toMatchObject({ code: 0 });
    const platform = await start(environment);
    await showsAll(platform, recorded(release));
    expect(await taken(platform)).toEqual([expect.objectContaining({ type: 'UnprovenTailSealed', reason: 'import' })]);
    await stop(platform);
    expect(await operator(['verify'], environment)).toMatchObject({ code: 0 });
  });
});
