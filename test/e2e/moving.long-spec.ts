import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEventStoreLog } from '@app/event-log';
import { asServerSeesIt } from '../../libs/event-log/src/eventstoredb/with-server.contract';
import { operate } from '../../apps/operator/src/program';
import { forgeRemoval } from '../fixtures/tampering';
import { until } from '../fixtures/until';
import { wholeLog } from '../fixtures/whole-log';
import { startTestPlatform, type TestPlatform } from './harness';
import { noLag, startEventStoreDouble } from '../servers/eventstoredb/double';
import { allReached, everyRow, fill } from './whole-instance';

const KEYS = {
  VAULT_KEY: 'the vault key of a test of moving, kept apart',
  SEAL_KEY: 'the seal key of a test of moving, kept apart',
};

let root: string;
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'moving-'))));
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Runs the command line on stores that the environment names, and answers what it printed. */
const operator = async (
  words: string,
  environment: Readonly<Record<string, string>>,
): Promise<{ readonly code: number; readonly text: string }> => {
  let text = '';
  const stream = { write: (piece: string) => (text += piece) !== '', isTTY: false };
  const before = process.env;
  process.env = { ...before, ...KEYS, ...environment };
  try {
    return { code: await operate(words.split(' '), { stdout: stream, stderr: stream }), text };
  } finally {
    process.env = before;
  }
};

const rowsWithoutPlaces = async (platform: TestPlatform): Promise<unknown[]> =>
  (await everyRow(platform, '~')).map((row) => ({ ...(row as object), position: undefined }));

test('an instance that moves shows every row, has its proof, and goes on', async () => {
  const first = await startTestPlatform({ environment: KEYS });
  await fill(first);
  const { log } = first.platform.host.stores;
  await until(() => first.platform.host.sealer.waiting === 0);
  await allReached(first, (await log.head()) ?? '');
  const before = await rowsWithoutPlaces(first);
  await first.stop({ keep: true });

  const [file, keys, blobs] = ['moving/log.jsonl.gz', 'apart/keys.jsonl', 'moving/blobs'].map((name) =>
    join(root, name),
  ) as [string, string, string];
  expect(await operator(`export ${file} --keys ${keys} --blobs ${blobs}`, { DATA_DIR: first.dataDir })).toMatchObject({
    code: 0,
    text: expect.stringMatching(/Exported [\d,]+ events[^]*data keys[^]*files/) as string,
  });
  rmSync(first.dataDir, { recursive: true });

  const target = { DATA_DIR: join(root, 'target') };
  const mark = join(target.DATA_DIR, 'log', 'import.unfinished');
  for (let times = 0; times < 2; times += 1) {
    // As a kill leaves it.
    if (times === 1) {
      writeFileSync(mark, '');
      await expect(startTestPlatform({ environment: KEYS, dataDir: target.DATA_DIR })).rejects.toThrow(
        /an import into .* did not end: run it again/,
      );
    }
    expect(await operator(`import ${file} --keys ${keys} --blobs ${blobs}`, target)).toMatchObject({
      code: 0,
      text: expect.stringMatching(/Imported[^]*data keys[^]*files[^]*The log is as it was sealed/) as string,
    });
  }
  expect(existsSync(mark)).toBe(false);
  expect(await operator('verify', target)).toMatchObject({ code: 0 });
  const second = await startTestPlatform({ environment: KEYS, dataDir: target.DATA_DIR });
  await allReached(second, (await second.platform.host.stores.log.head()) ?? '');
  const shown = await rowsWithoutPlaces(second);
  expect(shown.length).toBeGreaterThanOrEqual(before.length);
  expect(shown).toEqual(expect.arrayContaining(before));
  expect(JSON.stringify(shown)).not.toContain('"erased"');
  const later = await second.call<{ id: string }>('/api/v1/core/spaces', {
    method: 'POST',
    body: { name: 'After the move' },
  });
  expect((await second.call(`/api/v1/core/spaces/${later.body.id}`)).body['name']).toBe('After the move');
  await second.stop();
});

/** The folder of an instance that is stopped, with a Space: it is exported alone. */
let source: string;
let publicKey: string;
let spaceStream: string;
beforeAll(async () => {
  const first = await startTestPlatform({ environment: KEYS });
  source = first.dataDir;
  await first.call('/api/v1/core/spaces', { method: 'POST', body: { name: 'To be moved' } });
  const { sealer, sealKey, stores } = first.platform.host;
  const events = await wholeLog(stores.log, { filter: { streamPrefixes: ['space-'] } });
  publicKey = sealKey.publicKey;
  spaceStream = events[0]?.stream ?? '';
  await first.stop({ keep: true });
  expect(sealer.waiting).toBe(0);
});
afterAll(() => rmSync(source, { recursive: true }));

test('nothing starts on half of an import into a server, until it is run again', async () => {
  const [file, keys] = [join(root, 'log.jsonl'), join(root, 'keys.jsonl')];
  expect(await operator(`export ${file} --keys ${keys}`, { DATA_DIR: source })).toMatchObject({ code: 0 });
  const server = await startEventStoreDouble({ lag: noLag });
  const there = { DATA_DIR: join(root, 'target'), EVENTSTORE_URL: server.url };
  const start = () => startTestPlatform({ environment: { ...KEYS, ...there }, dataDir: there.DATA_DIR });
  const run = () => operator(`import ${file} --keys ${keys}`, there);
  expect(await run()).toMatchObject({ code: 0 });
  const written = (await asServerSeesIt(server.url)).filter(
    ({ stream }) => !stream.startsWith('$') || stream === '$agent-platform-imports',
  );
  expect([written[0]?.type, written.at(-1)?.type]).toEqual(['$import-begun', '$import-ended']);

  // As a kill leaves it.
  const log = await openEventStoreLog({ url: server.url });
  await log.importMark?.set(true);
  await log.close();
  await expect(start()).rejects.toThrow('an import into the server of EVENTSTORE_URL did not end: run it again');

  expect(await run()).toMatchObject({ code: 0 });
  const second = await start();
  expect(JSON.stringify((await second.call('/api/v1/core/spaces')).body)).toContain('To be moved');
  await second.stop();
  await server.stop();
});

test('an export with a forged removal is not believed', async () => {
  const file = join(root, 'log.jsonl');
  expect(await operator(`export ${file}`, { DATA_DIR: source })).toMatchObject({ code: 0 });
  const verify = () => operator(`verify ${file} --public-key ${publicKey}`, {});
  expect(await verify()).toMatchObject({ code: 0 });

  const receipt = forgeRemoval(file, spaceStream);

  const { code, text } = await verify();
  expect(code).toBe(3);
  expect(text).toMatch(
    new RegExp(`NOT as it was sealed[^]*missing[^]*space-[^]*gone, without a sealed receipt: no seal lists ${receipt}`),
  );
  expect(text).not.toContain('Removed with a receipt');
});

test('keys are not written into the folder of the files', async () => {
  const blobs = join(root, 'blobs');
  await expect(
    operator(`export ${join(root, 'log.jsonl')} --keys ${join(blobs, 'keys')} --blobs ${blobs}`, {
      DATA_DIR: source,
    }),
  ).resolves.toMatchObject({ code: 2 });
  expect(existsSync(join(blobs, 'keys'))).toBe(false);
});

test('keys of another instance are not replaced, unless that is asked for', async () => {
  const [file, keys] = [join(root, 'log.jsonl'), join(root, 'keys.jsonl')];
  writeFileSync(keys, 'of another');
  const run = (more = '') => operator(`export ${file} --keys ${keys}${more}`, { DATA_DIR: source });
  expect(await run()).toEqual({
    code: 1,
    text: `${keys} exists already. Name another file, or replace it with --force.\n`,
  });
  expect([readFileSync(keys, 'utf8'), existsSync(file)]).toEqual(['of another', false]);
  expect(await operator(`export ${file} --keys ${file}`, { DATA_DIR: source })).toMatchObject({ code: 2 });
  expect(await run(' --force')).toMatchObject({ code: 0 });
  expect(readFileSync(keys, 'utf8')).toContain('agent-platform/keys');
});

test('an import under the wrong VAULT_KEY, or with keys that were cut off, leaves nothing that the next one stumbles over', async () => {
  const [file, keys, cut] = ['log.jsonl', 'keys.jsonl', 'cut.jsonl'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  expect(await operator(`export ${file} --keys ${keys}`, { DATA_DIR: source })).toMatchObject({ code: 0 });
  writeFileSync(cut, readFileSync(keys, 'utf8').slice(0, 300));
  const there = { DATA_DIR: join(root, 'target') };
  const wrong = { ...there, VAULT_KEY: 'another vault key of a test of moving' };
  expect(await operator(`import ${file} --keys ${keys}`, wrong)).toMatchObject({
    code: 1,
    text: expect.stringContaining('under another VAULT_KEY') as string,
  });
  expect(await operator(`import ${file} --keys ${cut}`, there)).toMatchObject({
    code: 1,
    text: expect.stringContaining('was cut off') as string,
  });
  expect(existsSync(join(there.DATA_DIR, 'vault'))).toBe(false);
  expect(await operator(`import ${file} --keys ${keys}`, there)).toMatchObject({ code: 0 });
});
