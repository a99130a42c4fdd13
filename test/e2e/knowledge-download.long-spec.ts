import { randomBytes, randomUUID } from 'node:crypto';
import { renameSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { moreHeld } from '../fixtures/held-memory';
import { until } from '../fixtures/until';
import { zipFiles } from '../fixtures/zip-files';
import { at, type Document, type Guide, startGuide } from './guide';
import { ADMIN_KEY } from './harness';

const MEBIBYTE = 1024 ** 2;

let guide: Guide;
const sockets: Socket[] = [];
beforeAll(async () => (guide = await startGuide()), 60_000);
afterAll(async () => {
  sockets.forEach((socket) => socket.destroy());
  await guide.platform.stop();
});

const upload = async (agent: string, files: readonly (readonly [name: string, body: Buffer | string])[]) => {
  const form = new FormData();
  for (const [name, body] of files) form.append('file', new Blob([new Uint8Array(Buffer.from(body))]), name);
  const response = await fetch(`${guide.platform.url}${at(`/knowledge/${agent}/documents`)}`, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_KEY },
    body: form,
  });
  const told = (await response.json()) as { items?: Document[] };
  if (told.items === undefined) throw new Error(JSON.stringify(told));
  return told.items.map(({ id }) => id);
};
const download = (agent: string, documentIds: readonly string[], key = ADMIN_KEY) =>
  fetch(`${guide.platform.url}${at(`/knowledge/${agent}/documents/download`)}`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ documentIds }),
  });
it('the files of many documents come as one archive, under names that are safe and distinct', async () => {
  const agent = await guide.newAgent('Downloads');
  const random = randomBytes(3 * MEBIBYTE);
  const ids = await upload(agent, [
    ['notes.md', 'One.'],
    ['NOTES.md', 'Two.'],
    ['Übersicht ✓.txt', 'Drei.'],
    ['random.bin', random],
  ]);
  const inline = async (name: string) =>
    (
      await guide.platform.call<Document>(at(`/knowledge/${agent}/documents`), {
        method: 'POST',
        body: { name, content: name, mimeType: 'text/plain' },
      })
    ).body.id;
  for (const name of ['../../outside.txt', 'con', 'a\\b/c.txt']) ids.push(await inline(name));
  const response = await download(agent, ids);
  expect([
    response.status,
    response.headers.get('content-type'),
    response.headers.get('content-disposition'),
    response.headers.get('x-content-type-options'),
  ]).toEqual([200, 'application/zip', 'attachment; filename="documents.zip"', 'nosniff']);
  const files = zipFiles(Buffer.from(await response.arrayBuffer()));
  expect(
    Object.fromEntries(
      Object.entries(files).map(([name, body]) => [name, body.equals(random) ? 'random' : String(body)]),
    ),
  ).toEqual({
    'notes.md': 'One.',
    'NOTES (2).md': 'Two.',
    'Übersicht ✓.txt': 'Drei.',
    'random.bin': 'random',
    '.._.._outside.txt': '../../outside.txt',
    _con: 'con',
    'a_b_c.txt': 'a\\b/c.txt',
  });
});

it('nothing comes where one of them is not known to the Agent, foreign and unknown alike', async () => {
  const [agent, other] = [await guide.newAgent('Own'), await guide.newAgent('Foreign')];
  const [own] = await upload(agent, [['a.md', 'Own.']]);
  const [foreign] = await upload(other, [['a.md', 'Foreign.']]);
  const unknown = randomUUID();
  const told = await Promise.all(
    [foreign, unknown].map(async (id) => {
      const response = await download(agent, [own as string, id as string]);
      const { requestId: _, instance: __, ...problem } = (await response.json()) as Record<string, unknown>;
      return [response.status, JSON.stringify(problem).replaceAll(id as string, '')];
    }),
  );
  expect(told[0]).toEqual(told[1]);
  expect(told[0]?.[0]).toBe(404);
  const caller = await guide.platform.newCaller();
  expect((await download(agent, [own as string], caller.key)).status).toBe(404);
  expect(
    (
      await download(
        agent,
        Array.from({ length: 1_001 }, () => randomUUID()),
      )
    ).status,
  ).toBe(400);
  expect((await download(agent, [])).status).toBe(400);
});

it('a client that reads nothing holds little in memory, and one that leaves closes what was open', async () => {
  const agent = await guide.newAgent('Large');
  const ids: string[] = [];
  for (let index = 0; index < 8; index += 1)
    ids.push(...(await upload(agent, [[`${index}.bin`, randomBytes(8 * MEBIBYTE)]])));
  for (const id of ids) await guide.ready(id, agent);
  const { blobs } = guide.platform.platform.host.stores;
  const reading = new Set<number>();
  let opened = 0;
  const real = blobs.open.bind(blobs);
  const open = jest.spyOn(blobs, 'open').mockImplementation(async (stream: string, name: string) => {
    const body = await real(stream, name);
    const number = (opened += 1);
    async function* pieces(given: AsyncIterable<Buffer>) {
      reading.add(number);
      try {
        yield* given;
      } finally {
        reading.delete(number);
      }
    }
    return body && { ...body, pieces: pieces(body.pieces) };
  });
  const { port, hostname } = new URL(guide.platform.url);
  const body = JSON.stringify({ documentIds: ids });
  const held = moreHeld(32);
  const socket = connect(Number(port), hostname).pause();
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.write(
    `POST ${at(`/knowledge/${agent}/documents/download`)} HTTP/1.1\r\nhost: here\r\nx-api-key: ${ADMIN_KEY}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  await until(() => reading.size > 0, 'the first file');
  // What is not read is not made: the archive stands still.
  let last = -1;
  await until(
    () => {
      const [same, now] = [last === socket.bytesRead && opened > 0, socket.bytesRead];
      last = now;
      return same;
    },
    'the archive to stand still',
    { every: 300 },
  );
  expect([opened < ids.length, reading.size, held() < 32]).toEqual([true, 1, true]);
  socket.destroy();
  await until(() => reading.size === 0, 'the file to be closed');
  expect(opened).toBeLessThan(ids.length);
  open.mockRestore();
});

it('says that files cannot be read before it begins', async () => {
  const agent = await guide.newAgent('Away');
  const [id = ''] = await upload(agent, [['a.txt', 'The dingo howls.']]);
  await guide.ready(id, agent);
  const folder = join(guide.platform.dataDir, 'blobs');
  renameSync(folder, `${folder}-aside`);
  const away = await download(agent, [id]).finally(() => renameSync(`${folder}-aside`, folder));
  expect([away.status, ((await away.json()) as { code: string }).code]).toEqual([503, 'unavailable']);
  expect((await download(agent, [id])).status).toBe(200);
});
