import { connect, type Socket } from 'node:net';
import { makeLogger } from '@app/http';
import { until } from '../fixtures/until';
import { ADMIN_KEY, startTestPlatform, type TestPlatform } from './harness';

const CORE = '/api/v1/core';
/** Of a document, MiB: more than a connection on which nobody reads takes into its buffers. */
const SIZE = 16;
const lines: string[] = [];
let platform: TestPlatform;
let documents: string;
const sockets: Socket[] = [];
beforeAll(async () => {
  platform = await startTestPlatform({
    listen: true,
    logger: makeLogger('info', { write: (line) => void lines.push(line) }),
  });
  const made = async (path: string, body: object): Promise<string> =>
    (await platform.call<{ id: string }>(CORE + path, { method: 'POST', body })).body.id;
  const spaceId = await made('/spaces', { name: 'Files' });
  const agentId = await made('/agents', { spaceId, name: 'Reader', knowledgeEnabled: true });
  documents = `${CORE}/knowledge/${agentId}/documents`;
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await platform.stop();
});

const upload = async (megabytes: number): Promise<string> => {
  const form = new FormData();
  form.append('file', new Blob([Buffer.alloc(megabytes * 1024 ** 2)]), 'a.bin');
  const response = await fetch(platform.url + documents, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_KEY },
    body: form,
  });
  const { items } = (await response.json()) as { items: { id: string }[] };
  const { id } = items[0] as { id: string };
  await until(async () =>
    ['Ready', 'Failed'].includes((await platform.call<{ status: string }>(`${documents}/${id}`)).body.status),
  );
  return id;
};

it.each(['file', 'zip'])('a document that is deleted while it is downloaded is no error of ours: %s', async (what) => {
  const id = await upload(SIZE);
  const { port, hostname } = new URL(platform.url);
  const socket = connect(Number(port), hostname);
  const pieces: Buffer[] = [];
  socket.on('error', () => undefined);
  sockets.push(socket);
  const head = `host: here\r\nx-api-key: ${ADMIN_KEY}\r\n`;
  const body = JSON.stringify({ documentIds: [id] });
  socket.write(
    what === 'file'
      ? `GET ${documents}/${id}/file HTTP/1.1\r\n${head}\r\n`
      : `POST ${documents}/download HTTP/1.1\r\n${head}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  await new Promise<void>((resolve) =>
    socket.on('data', (piece) => {
      if (pieces.push(piece) > 1) return;
      socket.pause();
      resolve();
    }),
  );
  expect((await platform.call(`${documents}/${id}`, { method: 'DELETE' })).status).toBeLessThan(300);
  const ended = new Promise((resolve) => socket.once('close', resolve));
  socket.resume();
  await ended;
  expect(Buffer.concat(pieces).length).toBeLessThan(SIZE * 1024 ** 2);
  const loud = lines
    .map((line) => JSON.parse(line) as { level: string; msg: string })
    .filter(({ level }) => level === 'error');
  expect(loud).toEqual([]);
});
