import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from '../e2e/child';
import { until } from '../fixtures/until';
import { rounds, seededNumbers } from './log/rounds';

/** Fault 44: kill -9 at a random moment while a Space is deleted with what is in it. */
const KEY = 'deletion-test-key-0123456789-abcdefghijklmnop';
const AGENTS = 30;
const number = seededNumbers();

let dataDir: string;
beforeEach(() => (dataDir = mkdtempSync(join(tmpdir(), 'deletion-'))));
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const start = () =>
  startChild('apps/api/src/main.ts', { DATA_DIR: dataDir, PORT: '0', BOOTSTRAP_API_KEY: KEY, LOG_LEVEL: 'warn' });

const call = async <T = Record<string, unknown>>(
  { url }: Child,
  path: string,
  method = 'GET',
  body?: unknown,
): Promise<{ status: number; body: T }> => {
  const response = await fetch(`${url}/api/v1/${path}`, {
    method,
    headers: { 'x-api-key': KEY, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: (text === '' ? undefined : JSON.parse(text)) as T };
};

interface Events {
  readonly items: readonly { readonly stream: string }[];
}

test(
  'a Space whose deletion was killed is gone after the next start, with every Agent and prompt in it, each deleted once',
  async () => {
    for (let round = 0; round < rounds(1); round += 1) {
      let child = await start();
      const { body: space } = await call<{ id: string }>(child, 'core/spaces', 'POST', { name: `Doomed ${round}` });
      const agents = await Promise.all(
        Array.from({ length: AGENTS }, (_, n) =>
          call<{ id: string }>(child, 'core/agents', 'POST', { spaceId: space.id, name: `A${n}` }),
        ),
      );
      const { body: prompt } = await call<{ id: string }>(child, `core/spaces/${space.id}/prompts`, 'POST', {
        title: 'T',
        text: 'x',
      });
      expect((await call(child, `core/spaces/${space.id}`, 'DELETE')).status).toBe(204);
      await new Promise((resolve) => setTimeout(resolve, number(40)));
      child.kill('SIGKILL');
      await child.exited;

      child = await start();
      expect((await call(child, `core/spaces/${space.id}`)).status).toBe(404);
      for (const { body } of agents) expect((await call(child, `core/agents/${body.id}`)).status).toBe(404);
      for (const { body } of agents) {
        const deleted = () => call<Events>(child, `audit/events?stream=agent-${body.id}&type=AgentDeleted`);
        await until(async () => (await deleted()).body.items.length > 0, 'the end of an Agent');
        expect((await deleted()).body.items).toHaveLength(1);
      }
      await until(
        async () =>
          (await call<Events>(child, `audit/events?stream=prompt-${prompt.id}&type=PromptDeleted`)).body.items
            .length === 1,
        'the end of the prompt',
      );
      expect((await call(child, 'core/spaces', 'POST', { name: `Doomed ${round}` })).status).toBe(201);
      await child.stop();
    }
  },
  120_000 * rounds(1),
);
