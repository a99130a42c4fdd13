import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from '../e2e/child';
import { filesWhere } from '../fixtures/files-under';
import { until } from '../fixtures/until';
import { inRound, rounds, seededNumbers } from './log/rounds';

/** Fault 44: kill -9 at a random moment while what was deleted is being erased. */
const KEY = 'erasure-test-key-0123456789-abcdefghijklmnop';
const WORD = 'Quillbranth';
const number = seededNumbers();

let dataDir: string;
beforeEach(() => (dataDir = mkdtempSync(join(tmpdir(), 'erasure-'))));
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const start = () =>
  startChild('apps/api/src/main.ts', { DATA_DIR: dataDir, PORT: '0', BOOTSTRAP_API_KEY: KEY, LOG_LEVEL: 'warn' });

const call = async <T = Record<string, unknown>>(
  { url }: Child,
  path: string,
  method = 'GET',
  body?: unknown,
): Promise<T> => {
  const response = await fetch(`${url}/api/v1/${path}`, {
    method,
    headers: { 'x-api-key': KEY, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as T;
};

const filesWith = (word: string): readonly string[] => filesWhere(dataDir, (bytes) => bytes.includes(word));

interface Receipts {
  readonly items: readonly { readonly data: { readonly stream: string; readonly things: readonly string[] } }[];
}
const receiptsOf = async (child: Child, stream: string) =>
  (await call<Receipts>(child, 'audit/events?type=ContentErased&limit=100')).items.filter(
    ({ data }) => data.stream === stream,
  );

test('content whose erasure was killed is gone from every file after the next start, with one receipt', async () => {
  for (let round = 0; round < rounds(1); round += 1)
    await inRound(round, async () => {
      let child = await start();
      const { id: space } = await call<{ id: string }>(child, 'core/spaces', 'POST', {
        name: `Doomed ${WORD} ${round}`,
      });
      const agents = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          call<{ id: string }>(child, 'core/agents', 'POST', {
            spaceId: space,
            name: `${WORD} ${n}`,
            systemPrompt: `Speak of ${WORD}.`,
          }),
        ),
      );
      expect(filesWith(WORD)).not.toEqual([]);
      await call(child, `core/spaces/${space}`, 'DELETE');
      await new Promise((resolve) => setTimeout(resolve, number(150)));
      child.kill('SIGKILL');
      await child.exited;

      child = await start();
      const streams = [`space-${space}`, ...agents.map(({ id }) => `agent-${id}`)];
      for (const stream of streams)
        await until(async () => (await receiptsOf(child, stream)).length > 0, `the receipt of ${stream}`);
      for (const stream of streams) expect(await receiptsOf(child, stream)).toHaveLength(1);
      expect((await receiptsOf(child, `space-${space}`))[0]?.data.things.toSorted()).toEqual(streams.toSorted());
      expect(filesWith(WORD)).toEqual([]);
      await child.stop();
    });
});
