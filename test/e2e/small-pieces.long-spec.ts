import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { queryObjects } from 'node:v8';
import { until } from '../fixtures/until';
import { startTestPlatform, type TestPlatform } from './harness';

/** Bodies that come byte by byte: each piece is an object of some hundred bytes, which many routes held until the body was whole. */

const PIECES = 64 * 1024;
/** Of the rest of the process, which goes on. */
const OTHERS = 10_000;
let product: TestPlatform;
/** Buffers in the process before. */
let before: number;
let key: string;
let agentId: string;
let spaceId: string;
beforeAll(async () => {
  product = await startTestPlatform({ listen: true });
  ({ key } = await product.newCaller({ role: 'admin' }));
  const made = async (path: string, body: object) =>
    (await product.call<{ id: string }>(`/api/v1/core${path}`, { method: 'POST', key, body })).body.id;
  spaceId = await made('/spaces', { name: 'Team' });
  agentId = await made('/agents', { spaceId, name: 'Guide' });
  before = buffers();
});
afterAll(() => product.stop());

/** Those that something holds: it collects the others first. */
const buffers = (): number => queryObjects(Buffer, { format: 'count' });

const piece = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const multipart = 'multipart/form-data; boundary=xyz';
const field = (name: string, value: string): string =>
  `--xyz\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const file = '--xyz\r\ncontent-disposition: form-data; name="file"; filename="a.md"\r\n\r\n';

it.each<[string, string, () => string, () => string, string, number]>([
  ['JSON', 'application/json', () => '/api/v1/core/spaces', () => '{"name":"', '"}', 400],
  ['an attachment', multipart, () => `/api/v1/core/llm/${agentId}/files`, () => file, '\r\n--xyz--\r\n', 201],
  [
    'a Skill',
    multipart,
    () => '/api/v1/core/skills',
    () => field('scope', 'space') + field('spaceId', spaceId) + file,
    '\r\n--xyz--\r\n',
    400,
  ],
])(
  'a body of %s that comes byte by byte is read, and takes no object for each byte',
  async (_, type, path, begin, end, status) => {
    const server = product.platform.app.getHttpServer() as Server;
    let peer: Socket | undefined;
    server.once('connection', (other: Socket) => (peer = other));
    const socket = connect({ port: Number(new URL(product.url).port), host: '127.0.0.1' });
    let heard = '';
    let isClosed = false;
    socket.on('data', (bytes: Buffer) => (heard += bytes.toString())).on('close', () => (isClosed = true));

    const head = `POST ${path()} HTTP/1.1\r\nhost: here\r\nx-api-key: ${key}\r\ncontent-type: ${type}\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n`;
    const sent = head + piece(begin()) + piece('a').repeat(PIECES);
    socket.write(sent);
    await until(() => peer?.bytesRead === sent.length, 'all but the end of the body');
    expect(buffers() - before).toBeLessThan(OTHERS);

    socket.write(`${piece(end)}0\r\n\r\n`);
    await until(() => isClosed, 'the answer');
    expect(heard).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  },
);
