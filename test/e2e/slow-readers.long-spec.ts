import { createHash } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { moreHeld } from '../fixtures/held-memory';
import { until } from '../fixtures/until';
import { at, type Document, type Guide, startGuide } from './guide';
import { ADMIN_KEY } from './harness';

const MEBIBYTE = 1024 ** 2;
const READERS = 8;
/** MiB: half of what is asked for. */
const MOST_HELD = (READERS * 24) / 2;
const FILE = Buffer.alloc(24 * MEBIBYTE, 'A file that nobody reads.\n');

let guide: Guide;
const sockets: Socket[] = [];
beforeAll(async () => (guide = await startGuide()), 60_000);
afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));
afterAll(() => guide.platform.stop());

/** Adds a file that cannot be read as a document, so that only its bytes are kept. */
const upload = async (body: Buffer, type = 'application/octet-stream'): Promise<string> => {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(body)], { type }), 'file.bin');
  const response = await fetch(`${guide.platform.url}${guide.documentsPath}`, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_KEY },
    body: form,
  });
  const { items } = (await response.json()) as { items: Document[] };
  const { id } = items[0] as Document;
  await guide.ready(id);
  return id;
};

/** Asks for a path, and reads nothing of the answer. */
const ask = (path: string): Socket => {
  const { port, hostname } = new URL(guide.platform.url);
  const socket = connect(Number(port), hostname).pause();
  socket.write(`GET ${path} HTTP/1.1\r\nhost: here\r\nx-api-key: ${ADMIN_KEY}\r\n\r\n`);
  socket.on('error', () => undefined);
  sockets.push(socket);
  return socket;
};

/** The most that was held, MB, beside what was before, while something went on for a while. */
const mostHeld = async (work: () => void): Promise<number> => {
  const held = moreHeld(MOST_HELD);
  let most = 0;
  work();
  for (let times = 0; times < 60; times += 1) {
    await pause(25);
    most = Math.max(most, held());
  }
  return most;
};

it('readers that read nothing of a large file hold little of it, and whoever reads gets all of it', async () => {
  const id = await upload(FILE);
  const path = `${guide.documentsPath}/${id}/file`;
  expect(await mostHeld(() => Array.from({ length: READERS }, () => ask(path)))).toBeLessThan(MOST_HELD);
  const response = await fetch(`${guide.platform.url}${path}`, { headers: { 'x-api-key': ADMIN_KEY } });
  const body = Buffer.from(await response.arrayBuffer());
  expect([response.headers.get('content-length'), createHash('sha256').update(body).digest('hex')]).toEqual([
    String(FILE.length),
    createHash('sha256').update(FILE).digest('hex'),
  ]);
});

it('the text of a document comes piece by piece, whole', async () => {
  const text = `Zebras "sleep" \\ standing 🦓 up.\t\n\u2028${'🦓äöü日本'.repeat(20_000)}\n\nThe end.`;
  const { id } = (
    await guide.platform.call<Document>(guide.documentsPath, {
      method: 'POST',
      body: { name: 'long.txt', content: text, mimeType: 'text/plain' },
    })
  ).body;
  await until(
    async () =>
      (await guide.platform.call<{ text: string | null }>(`${guide.documentsPath}/${id}/content`)).body.text === text,
    'the text',
  );
  const answer = await guide.platform.call(`${guide.documentsPath}/${id}/content`);
  expect([answer.headers['content-type'], answer.body]).toEqual([
    'application/json; charset=utf-8',
    { documentId: id, text },
  ]);
});

it('pages of large items are short, and together give every item once', async () => {
  const space = (
    await guide.platform.call<{ id: string }>(at('/spaces'), { method: 'POST', body: { name: 'Long prompts' } })
  ).body.id;
  const text = 'A long prompt. '.repeat(6_000);
  const made: string[] = [];
  for (let number = 0; number < 60; number += 1)
    made.push(
      (
        await guide.platform.call<{ id: string }>(at(`/spaces/${space}/prompts`), {
          method: 'POST',
          body: { title: `Prompt ${number}`, text },
        })
      ).body.id,
    );
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const {
      status,
      body,
      text: json,
    }: Awaited<
      ReturnType<typeof guide.platform.call<{ items: { id: string }[]; nextCursor: string | null }>>
    > = await guide.platform.call(at(`/spaces/${space}/prompts?limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`));
    expect([status, json.length < 4 * MEBIBYTE]).toEqual([200, true]);
    seen.push(...body.items.map(({ id }) => id));
    cursor = body.nextCursor;
  }
  expect(seen.length).toBe(60);
  expect(seen.toSorted()).toEqual(made.toSorted());
});

it.each<readonly [what: string, path: (agentId: string) => string]>([
  ['the history of an object', (id) => `/api/v1/audit/objects/agent/${id}/history`],
  ['the events of a stream', (id) => `/api/v1/audit/events?stream=agent-${id}&content=true`],
  ['the events of the log', () => '/api/v1/audit/events?order=desc'],
])('pages of %s are short where its events are large, and together give each once', async (_, path) => {
  const { body: agent } = await guide.platform.call<{ id: string }>(at('/agents'), {
    method: 'POST',
    body: { name: 'Long', knowledgeEnabled: false },
  });
  for (let number = 0; number < 60; number += 1)
    await guide.platform.call(at(`/agents/${agent.id}`), {
      method: 'PUT',
      body: { systemPrompt: `${number} `.padEnd(90_000, 'A long prompt. ') },
    });
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null && seen.length < 61;) {
    const url: string = path(agent.id);
    const {
      status,
      body,
      text,
    }: Awaited<ReturnType<typeof guide.platform.call<{ items: { position: string }[]; nextCursor: string | null }>>> =
      await guide.platform.call(
        `${url}${url.includes('?') ? '&' : '?'}limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`,
      );
    expect([status, text.length < 4 * MEBIBYTE]).toEqual([200, true]);
    seen.push(...body.items.map(({ position }) => position));
    cursor = body.nextCursor;
  }
  expect(seen.length).toBeGreaterThanOrEqual(61);
  expect(new Set(seen).size).toBe(seen.length);
});
