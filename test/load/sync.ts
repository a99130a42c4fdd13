import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Synced } from '../../apps/operator/src/verbs/sync';
import { CORE, idOf, words } from './mixed-work';
import { ask, KEY, PRODUCT, startProduct, type Started } from './product';
import { cpuSeconds } from './rate';

/**
 * `npm run operator -- sync` of a folder of 10,000 small files to the built product with a heap of 256 MB: sent, killed with the product
 * after a third, sent on, twice with nothing to do, and with a fifth of the files gone, which is withheld and then confirmed. Prints the
 * time, the requests and the processor time of each and the most memory that product and operator had, and fails where a file is there
 * twice, or not. Needs `npm run build`. `FILES` says how many.
 */

const FILES = Number(process.env['FILES'] ?? 10_000);
const HEAP_MB = 256;
const IN_FOLDER = 100;

const folder = mkdtempSync(join(tmpdir(), 'synced-'));
const dataDir = mkdtempSync(join(tmpdir(), 'load-sync-'));
const running = new Set<ChildProcess>();
let product: Started;
let mostProductMb = 0;

const start = async (): Promise<void> => {
  product = await startProduct(dataDir, { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` });
};
/** A number that /proc tells of a process, such as `VmHWM`, in MB. */
const statusMb = (pid: number, name: string): number =>
  Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
const call = (method: string, path: string, body?: object) => ask(product, method, path, body);
/** Requests of operators that the product has answered, by its metrics. */
const requests = async (): Promise<number> =>
  (await call('GET', '/metrics'))
    .split('\n')
    .filter((line) => /^http_request\w*_count\{.*(?:sources|:documentId)/.test(line))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);

const sync = (agent: string, more: readonly string[] = []) => {
  const child = spawn(
    process.execPath,
    [`--max-old-space-size=${HEAP_MB}`, join(PRODUCT, 'dist/apps/operator/src/main.js')].concat(
      ['--url', product.url, '--api-key', KEY, '--json', 'sync', folder, '--agent', agent, '--source', 'many'],
      more,
    ),
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  running.add(child);
  let [printed, said, mostMb] = ['', '', 0];
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const watch = setInterval(() => (mostMb = Math.max(mostMb, statusMb(child.pid ?? 0, 'VmHWM'))), 200);
  const ended = new Promise<{ code: number | null; result: Synced; said: string; mostMb: number }>((resolve) =>
    child.once('close', (code) => {
      clearInterval(watch);
      running.delete(child);
      resolve({ code, result: JSON.parse(printed === '' ? '{}' : printed) as Synced, said, mostMb });
    }),
  );
  return { child, ended };
};
const must = (holds: boolean, text: string): void => {
  if (!holds) throw new Error(text);
};

/** A sync to its end; prints what it took. */
const measured = async (what: string, agent: string, code: number, more: readonly string[] = []): Promise<Synced> => {
  const [asked, cpu, started] = [await requests(), cpuSeconds(product.pid), performance.now()];
  const { code: ended, result, said, mostMb } = await sync(agent, more).ended;
  const seconds = (performance.now() - started) / 1_000;
  must(ended === code, `${what}: exit code ${ended}, ${said}`);
  mostProductMb = Math.max(mostProductMb, statusMb(product.pid, 'VmHWM'));
  console.log(
    `${what}: ${seconds.toFixed(1)} s, ${(await requests()) - asked} requests, ${(cpuSeconds(product.pid) - cpu).toFixed(1)} s of processor time of the product, operator at most ${mostMb.toFixed(0)} MB; ${result.uploaded.length} sent, ${result.unchanged} unchanged, ${result.deleted.length} deleted, ${result.withheld.length} withheld`,
  );
  return result;
};

const count = async (agent: string, status: string): Promise<number> => {
  let found = 0;
  for (let cursor: string | null = ''; cursor !== null;) {
    const from: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page = JSON.parse(await call('GET', `${CORE}/knowledge/${agent}/documents?limit=100${status}${from}`)) as {
      items: unknown[];
      nextCursor: string | null;
    };
    found += page.items.length;
    cursor = page.nextCursor;
  }
  return found;
};

const main = async (): Promise<void> => {
  const paths = Array.from({ length: FILES }, (_, n) => `part ${Math.floor(n / IN_FOLDER)}/file ${n}.md`);
  for (const path of paths) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), `${path} says: ${words(30)}.`);
  }
  await start();
  const agent = idOf(await call('POST', `${CORE}/agents`, { name: 'Many files', model: 'local-chat' }));
  const first = sync(agent);
  while ((await requests()) < FILES / 3) await pause(100);
  process.kill(product.pid, 'SIGKILL');
  must((await first.ended).code !== 0, 'the operator did not notice that the product was gone');
  await start();
  const some = await count(agent, '');
  must(some > FILES / 4 && some < FILES, `${some} documents after the kill`);
  const second = await measured(`after a kill with ${some} documents`, agent, 0);
  must(second.uploaded.length + second.unchanged === FILES, 'not all files are documents');
  must((await count(agent, '')) === FILES, 'a file is there twice, or not');

  const ingesting = performance.now();
  while ((await count(agent, '&status=Pending')) + (await count(agent, '&status=Processing')) > 0) await pause(2_000);
  console.log(`all Ready ${((performance.now() - ingesting) / 1_000).toFixed(0)} s later`);
  must((await count(agent, '&status=Ready')) === FILES, 'a document failed');

  for (const time of ['once', 'twice']) {
    const nothing = await measured(`with nothing to do, ${time}`, agent, 0);
    must(nothing.unchanged === FILES, 'something was sent again');
  }
  const gone = paths.filter((_, n) => n % 5 === 0);
  for (const path of gone) rmSync(join(folder, path));
  const { withheld, confirmation } = await measured(`with ${gone.length} files gone`, agent, 3);
  must(withheld.length === gone.length && (await count(agent, '')) === FILES, 'deletions were not withheld');
  const { deleted } = await measured('the same, confirmed', agent, 0, ['--confirm', String(confirmation)]);
  must(deleted.length === gone.length, 'not all were deleted');
  must((await count(agent, '')) === FILES - gone.length, 'a file is there twice, or not');
  await measured('with nothing to do', agent, 0);
  console.log(`the product had at most ${mostProductMb.toFixed(0)} MB with a heap of ${HEAP_MB} MB`);
};

const end = async (): Promise<void> => {
  for (const child of running) child.kill('SIGKILL');
  await product.stop();
  rmSync(dataDir, { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
};

void (async () => {
  try {
    await main();
  } finally {
    await end();
  }
})();
