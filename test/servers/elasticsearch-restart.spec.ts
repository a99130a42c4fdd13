import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { isUnavailable } from '@app/kernel';
import type { SearchOperation } from '@app/search-index';
import { direction, passage, putDocument, TestIndex } from '../../libs/search-index/src/test-index.contract';
import { type Instance, instanceOn } from './elasticsearch-instance';

const SCRIPT = join(__dirname, 'elasticsearch.sh');
const CACHE = process.env['PLATFORM_SERVERS_CACHE'] ?? join(homedir(), '.cache', 'agent-platform-servers');
const MINUTES = 60_000;
const DOCUMENTS = 60;

const run = promisify(execFile);
const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });

/** A server of the test's own, which it may kill. */
const specs = (): void => {
  let folder: string;
  let port: number;
  let instance: Instance;
  let index: TestIndex;

  const start = () => run(SCRIPT, ['start', folder, String(port)], { env: { ...process.env, ES_HEAP: '512m' } });
  const kill = (): void => void process.kill(Number(readFileSync(join(folder, 'tmp', 'pid'), 'utf8')), 'SIGKILL');

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'elasticsearch-'));
    await chmod(folder, 0o755);
    port = await freePort();
    await start();
    instance = instanceOn(`http://127.0.0.1:${port}`);
    index = new TestIndex('passages', await instance.open());
    await index.index.prepare('passages', 1);
    await index.index.swap('passages', undefined, 1);
  }, 10 * MINUTES);
  afterAll(async () => {
    await instance.destroy();
    await run(SCRIPT, ['stop', folder]);
    await rm(folder, { recursive: true });
  }, MINUTES);

  const put = (n: number): SearchOperation =>
    putDocument(`d${n}`, [
      passage(`c${n}a`, `alpha ${n}`, { vector: direction(n, 1) }),
      passage(`c${n}b`, `beta ${n}`),
    ]);
  const remove = (n: number): SearchOperation => ({ op: 'removeDocument', documentId: `d${n - 7}` });
  const changes = [...Array(DOCUMENTS).keys()].map((n): readonly SearchOperation[] => [
    put(n),
    ...(n % 10 === 9 ? [remove(n)] : []),
  ]);

  it(
    'goes on where it stood after the server was killed in the middle of its writes',
    async () => {
      let failures = 0;
      let restarted: Promise<unknown> | undefined;
      for (let n = 0; n < DOCUMENTS;) {
        if (n === DOCUMENTS / 2 && restarted === undefined) {
          const writing = index.apply(changes[n] as readonly SearchOperation[]).catch((error: unknown) => error);
          kill();
          restarted = start();
          await writing;
        }
        try {
          n = (await index.index.checkpoint('passages', 1))?.handled ?? 0;
          if (n < DOCUMENTS) await index.apply(changes[n] as readonly SearchOperation[]);
        } catch (error) {
          if (!isUnavailable(error)) throw error;
          failures += 1;
          await pause(100);
        }
      }
      await restarted;
      expect(failures).toBeGreaterThan(0);

      await index.index.prepare('passages', 2);
      for (const operations of changes) await index.apply(operations, { version: 2 });
      expect(await index.index.count('passages', 1)).toEqual({
        documents: DOCUMENTS - 6,
        passages: (DOCUMENTS - 6) * 2,
      });
      expect(await index.index.scan('passages', 1, null, 100)).toEqual(
        await index.index.scan('passages', 2, null, 100),
      );
      expect([await index.index.health(), (await index.found('alpha', { limit: 100 })).length]).toEqual([
        { ok: true },
        DOCUMENTS - 6,
      ]);
    },
    10 * MINUTES,
  );
};

describe('Elasticsearch that is killed', () => {
  if (existsSync(join(CACHE, 'elasticsearch-9.4.3', '.complete'))) specs();
  else it.todo('skipped: test/servers/elasticsearch.sh has not installed it');
});
