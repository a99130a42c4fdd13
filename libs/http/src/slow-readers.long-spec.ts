import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { until } from '../../../test/fixtures/until';
import { OpenAnswers } from './open-answers';
import { closeSilent, MOST_UNREAD, UnreadAnswers } from './slow-readers';

/** Long enough for a machine on which others are busy. */
const SILENT_MS = 3_000;
const PIECE = Buffer.alloc(64 * 1024);

/** A server that answers by the path, and what the edge knows of its requests. */
class Serving {
  readonly open = new OpenAnswers();
  readonly sockets: Socket[] = [];
  served = 0;
  private readonly server: Server;

  constructor() {
    this.server = createServer({ keepAliveTimeout: 100 }, (raw, response) => {
      // What is asked of a request here.
      const request = { raw, caller: { actor: raw.headers['x-actor'] ?? 'key:1' } } as FastifyRequest;
      const place = this.open.add({ request, response });
      response.on('close', () => this.open.remove(place));
      if (raw.url === '/endless') this.endless(response);
      if (raw.url === '/short') response.end('short');
      if (raw.url === '/taken') raw.resume().on('end', () => response.end('taken'));
    });
    closeSilent(this.server, this.open, SILENT_MS);
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
  }

  /** Sends a request, and reads nothing. */
  ask(head: string, actor = 'key:1'): Socket {
    const socket = connect((this.server.address() as AddressInfo).port, '127.0.0.1').pause();
    socket.on('error', () => undefined);
    socket.write(`${head} HTTP/1.1\r\nhost: here\r\nx-actor: ${actor}\r\n`);
    if (!head.startsWith('POST')) socket.write('\r\n');
    this.sockets.push(socket);
    return socket;
  }

  get connections(): Promise<number> {
    return new Promise((resolve) => this.server.getConnections((_, count) => resolve(count)));
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private endless(response: ServerResponse): void {
    for (this.served += PIECE.length; response.write(PIECE); this.served += PIECE.length);
    response.once('drain', () => this.endless(response));
  }
}

let serving: Serving;
beforeEach(async () => {
  serving = new Serving();
  await serving.listen();
});
afterEach(() => serving.close());

describe('a connection', () => {
  it('whose answer nobody reads is closed', async () => {
    serving.ask('GET /endless');
    await until(async () => serving.served > 0 && serving.open.size === 0 && (await serving.connections) === 0);
  });

  it('that is read slowly stays', async () => {
    const socket = serving.ask('GET /endless');
    let read = 0;
    socket.on('data', (bytes: Buffer) => (read += bytes.length)).pause();
    for (let times = 0; times < 20; times += 1) {
      socket.resume();
      await pause(20);
      socket.pause();
      await pause(SILENT_MS / 15);
    }
    expect(read).toBeGreaterThan(PIECE.length);
    expect([...serving.open].every(({ response }) => !response.destroyed)).toBe(true);
    expect(serving.open.size).toBe(1);
  });

  it('that waits for its answer stays, or for who reads its body, and one whose answer came goes when nothing follows', async () => {
    serving.ask('GET /waiting');
    serving.ask('POST /waiting').write('content-length: 3\r\n\r\na');
    const short = serving.ask('GET /short').resume();
    const closed = new Promise((resolve) => short.once('close', resolve));
    await closed;
    await pause(1.5 * SILENT_MS);
    expect(await serving.connections).toBe(2);
    expect(serving.open.size).toBe(2);
  });

  it('that ends its body late is served, and one that does not is closed', async () => {
    const late = serving.ask('POST /taken').resume();
    let answer = '';
    late.on('data', (bytes: Buffer) => (answer += bytes.toString()));
    late.write('content-length: 3\r\n\r\na');
    for (const more of ['b', 'c']) {
      await pause(SILENT_MS / 10);
      late.write(more);
    }
    await until(() => answer.endsWith('taken'));
    const silent = serving.ask('POST /taken').resume();
    const closed = new Promise((resolve) => silent.once('close', resolve));
    silent.write('content-length: 3\r\n\r\na');
    await closed;
  });
});

describe('a caller who leaves much unread', () => {
  it('is served further when they have read, and others meanwhile', async () => {
    const unread = new UnreadAnswers(serving.open);
    serving.ask('GET /waiting');
    await until(() => serving.open.size === 1);
    const [answer] = serving.open;
    answer?.response.write(Buffer.alloc(MOST_UNREAD + 8 * 1024 * 1024));
    unread.look();
    expect([unread.isOver('key:1'), unread.isOver('key:2')]).toEqual([true, false]);
    await unread.drained('key:2');
    let served = false;
    const drained = unread.drained('key:1').then(() => (served = true));
    await pause(50);
    expect(served).toBe(false);
    serving.sockets[0]?.resume();
    await drained;
    unread.onModuleDestroy();
  });
});
