import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Child } from '../e2e/child';
import { writeModelsFile } from '../fixtures/models-file';
import { type ProviderDouble, startProviderDouble } from '../fixtures/provider-double';
import { until } from '../fixtures/until';
import { type HostileFile, hostileFiles } from './hostile/files';
import { ask, call, KEY, killedProduct } from './killed-product';

/** Fault: files that are made against their parsers. Each ends as Ready or Failed with a code, and nothing else notices. */
const CODES = [
  'unsupported_type',
  'invalid_text',
  'empty_document',
  'no_text',
  'encrypted',
  'malformed',
  'inflates_too_far',
  'timed_out',
  'out_of_memory',
  'too_many_passages',
];
/** A parser that takes this long is in a loop. */
const LOOPS = 'same-slide.pptx';

interface Document {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly statusDetail?: { readonly code: string; readonly step: string };
}

const product = killedProduct('hostile');
let provider: ProviderDouble;
let modelsFile: string;
beforeEach(async () => {
  provider = await startProviderDouble();
  const models = [{ key: 'lengths', kind: 'embedding', pricing: 'free' }];
  modelsFile = writeModelsFile(product.folder(), provider, models, { embeddingModel: 'lengths' });
});
afterEach(() => provider.stop());

const start = (more: Readonly<Record<string, string>>) => product.start({ MODELS_FILE: modelsFile, ...more });

/** The path of the documents of a new Agent. */
const documentsOf = async (child: Child): Promise<string> => {
  const { id: spaceId } = await call<{ id: string }>(child, 'core/spaces', 'POST', { name: 'S' });
  const agent = await call<{ id: string }>(child, 'core/agents', 'POST', { spaceId, name: 'A' });
  return `core/knowledge/${agent.id}/documents`;
};

const upload = async (child: Child, path: string, { name, body }: HostileFile): Promise<Document> => {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(body)]), name);
  const answer = await ask<{ items: readonly [Document] }>(child, path, 'POST', form);
  expect(answer.status).toBe(202);
  return answer.body.items[0];
};

/** Processes that read files for a server. */
const parsersOf = (server: Child): readonly number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => isParser(pid) && procFile(pid, 'status').includes(`\nPPid:\t${server.pid}\n`));

const isParser = (pid: number): boolean => procFile(pid, 'cmdline').includes('parser.process');

/** Empty where the process ends in this moment. */
const procFile = (pid: number, name: string): string => {
  try {
    return readFileSync(join('/proc', String(pid), name), 'latin1');
  } catch {
    return '';
  }
};

/** The only parser of a server, once there is one. */
const parserOf = async (server: Child): Promise<number> => {
  await until(() => parsersOf(server).length === 1, 'the parser');
  return parsersOf(server)[0] as number;
};
const endOf = (parser: number): Promise<void> => until(() => !isParser(parser), 'the end of the parser');

/** Made before anything is started: it stops this process for seconds, in which a server closes a connection that lies idle. */
const files = hostileFiles();
const looping = files.find(({ name }) => name === LOOPS) as HostileFile;

test('two hundred hostile files each end, and the server answers throughout', async () => {
  // Files that loop take all of it: half of what the product gives them.
  const child = await start({ PARSER_MEMORY_MB: '256', PARSER_SECONDS: '30' });
  const path = await documentsOf(child);
  const watching = new AbortController();
  let answers = 0;
  const watched = (async () => {
    while (!watching.signal.aborted) {
      const { status } = await fetch(`${child.url}/health`, {
        headers: { 'x-api-key': KEY },
        signal: AbortSignal.timeout(10_000),
      });
      expect(status).toBe(200);
      answers += 1;
      // How often is asked; nothing is waited for.
      await delay(100);
    }
  })();
  const expected = new Map<string, HostileFile>();
  for (const file of files) expected.set((await upload(child, path, file)).id, file);
  expect(expected.size).toBeGreaterThanOrEqual(200);

  const open = async (): Promise<number> => {
    const lists = await Promise.all(
      ['Pending', 'Processing'].map((status) =>
        call<{ items: readonly Document[] }>(child, `${path}?status=${status}&limit=1`),
      ),
    );
    return lists.reduce((sum, { items }) => sum + items.length, 0);
  };
  await until(async () => (await open()) === 0, 'the end of every file', { patience: 900_000, every: 500 });
  watching.abort();
  await watched;
  expect(answers).toBeGreaterThan(100);
  for (const [id, { name, code }] of expected) {
    const { status, statusDetail } = await call<Document>(child, `${path}/${id}`);
    const end = statusDetail?.code ?? status;
    expect([name, [...CODES, 'Ready']]).toEqual([name, expect.arrayContaining([end])]);
    if (code !== undefined) expect([name, end]).toEqual([name, code]);
  }
  await until(() => parsersOf(child).length === 0, 'the end of every parser');
}, 1_200_000);

test('a parser in a loop ends when its document is deleted', async () => {
  const child = await start({ PARSER_SECONDS: '600' });
  const path = await documentsOf(child);
  const { id } = await upload(child, path, looping);
  const parser = await parserOf(child);
  await call(child, `${path}/${id}`, 'DELETE');
  await endOf(parser);
});

test.each(['SIGTERM', 'SIGKILL'] as const)('a parser in a loop ends with the server on %s', async (signal) => {
  const child = await start({ PARSER_SECONDS: '600' });
  await upload(child, await documentsOf(child), looping);
  const parser = await parserOf(child);
  child.kill(signal);
  await child.exited;
  await endOf(parser);
});
