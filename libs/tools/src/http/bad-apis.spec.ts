import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { ApiHandler } from '../../../../test/fixtures/tool-api';
import { operationOf, withToolApi } from '../../../../test/fixtures/tool-calls';
import { until } from '../../../../test/fixtures/until';

const { call, caller, result, running } = withToolApi(500);

describe('an API that behaves badly', () => {
  const text = { 'content-type': 'text/plain' };
  const isShort = { truncated: 'Only the first 256 KiB are shown.' };

  it('is given up when it does not answer, or does not end', async () => {
    running().answer = () => undefined;
    expect((await result()).error).toBe('The API did not answer within 0.5 s.');
    running().answer = (_request, response) => {
      response.writeHead(200, text).write('a');
      const drip = setInterval(() => response.write('a'), 20);
      response.on('close', () => clearInterval(drip));
    };
    expect((await result()).error).toBe('The API did not answer within 0.5 s.');
  });

  it('is left after 256 KiB, whether it ends or not', async () => {
    let written = 0;
    running().answer = (_request, response) => {
      response.writeHead(200, text);
      const more = (): void => {
        for (let goOn = true; goOn && !response.destroyed; written += 65_536) goOn = response.write('é'.repeat(32_768));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    };
    const { body, ...others } = await result({}, { callMs: 5_000 });
    expect(others).toEqual({ isError: false, status: 200, ...isShort });
    expect(String(body).length).toBeLessThanOrEqual(256 * 1024);
    expect(written).toBeLessThan(32 * 1024 * 1024);
  });

  it('may not make much of little: what it compressed is read to the limit alone', async () => {
    const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024, 'a'));
    running().answer = (_request, response) =>
      void response.writeHead(200, { ...text, 'content-encoding': 'gzip' }).end(bomb);
    const before = process.memoryUsage().rss;
    const { body, ...others } = await result({}, { callMs: 5_000 });
    expect(others).toEqual({ isError: false, status: 200, ...isShort });
    expect(String(body)).toHaveLength(256 * 1024);
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
  });

  it('does not get a secret past the limit by halves', async () => {
    const secret = 'sesame-open-sesame-open';
    running().answer = (_request, response) =>
      void response.writeHead(200, text).end('a'.repeat(256 * 1024 - 5) + secret);
    const operation = operationOf({ security: [{ s: [] }] }, '/a', 'get', {
      components: { securitySchemes: { s: { type: 'http', scheme: 'bearer' } } },
    });
    expect(String((await result({ operation, secret })).body).slice(-12)).toBe('aaaaaaa[secr');
  });

  it.each<[string, ApiHandler, string]>([
    ['resets', ({ socket }) => void socket.resetAndDestroy(), 'broke off'],
    [
      'breaks off',
      (_request, response) => void response.writeHead(200, text).write('a', () => response.destroy()),
      'broke off',
    ],
    [
      'sends less than it says',
      (_request, response) => void response.writeHead(200, { ...text, 'content-length': '9' }).end('a'),
      'broke off',
    ],
    [
      'compresses nothing',
      (_request, response) => void response.writeHead(200, { ...text, 'content-encoding': 'gzip' }).end('plain'),
      'broke off',
    ],
    [
      'encodes oddly',
      (_request, response) => void response.writeHead(200, { ...text, 'content-encoding': 'zstd' }).end('a'),
      'content-encoding',
    ],
    [
      'sends a picture',
      (_request, response) => void response.writeHead(200, { 'content-type': 'image/png' }).end('a'),
      'neither text nor JSON',
    ],
    [
      'sends bytes as text',
      (_request, response) => void response.writeHead(200, text).end('a\0b'),
      'neither text nor JSON',
    ],
    [
      'redirects',
      (_request, response) => void response.writeHead(302, { location: `${running().origin}/elsewhere` }).end(),
      'redirect (302), which is not followed',
    ],
  ])('and %s is an error for the model, which names no address', async (_how, handler, expected) => {
    running().answer = handler;
    const { isError, error } = await result();
    expect({ isError, error }).toEqual({ isError: true, error: expect.stringContaining(expected) });
    expect(error).not.toMatch(/127\.|ECONN|\d{4,}/);
    expect(running().asked).toHaveLength(1);
  });

  it('and sends more than it says gives that to nobody else', async () => {
    const tcp = createTcpServer((socket) =>
      socket
        .on('error', () => undefined)
        .on('data', () =>
          socket.write(
            'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 1\r\n\r\naHTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nmine',
          ),
        ),
    );
    await new Promise<void>((listening) => tcp.listen(0, '127.0.0.1', listening));
    const at = `127.0.0.1:${(tcp.address() as AddressInfo).port}`;
    const one = caller({ privateHosts: [at] });
    for (let times = 0; times < 3; times += 1)
      expect(JSON.parse((await one.call(call({ baseUrl: `http://${at}` }))).output)).toMatchObject({ body: 'a' });
    tcp.close();
  });

  it('and answers what is not what it says is told as text', async () => {
    running().answer = (_request, response) =>
      void response.setHeader('content-type', 'application/json').end('<b>no</b>\u001b[2J');
    expect((await result()).body).toBe('<b>no</b>[2J');
    running().answer = (_request, response) =>
      void response.setHeader('content-type', 'application/json').end('['.repeat(100_000) + ']'.repeat(100_000));
    expect((await caller().call(call())).output).toHaveLength('{"status":200,"body":}'.length + 200_000);
  });

  it('ends with its caller', async () => {
    running().answer = () => undefined;
    const leaving = new AbortController();
    const gone = caller({ callMs: 60_000 }).call(call({ signal: leaving.signal }));
    setTimeout(() => leaving.abort(new Error('left')), 50);
    await expect(gone).rejects.toThrow('left');
  });

  it('holds eight connections of an Agent at most, and none of another', async () => {
    let open = 0;
    let most = 0;
    let wanted = 8;
    running().answer = (_request, response) => {
      open += 1;
      most = Math.max(most, open);
      // Answers once as many are open as should be, and more had time to come.
      void until(() => most >= wanted, `${wanted} connections`)
        .then(() => pause(30))
        .then(() => {
          open -= 1;
          response.setHeader('content-type', 'text/plain').end('a');
        });
    };
    const one = caller({ callMs: 10_000 });
    await Promise.all(Array.from({ length: 40 }, () => one.call(call())));
    expect(most).toBe(8);
    wanted = 16;
    await Promise.all(['a', 'b'].flatMap((agentId) => Array.from({ length: 20 }, () => one.call(call({ agentId })))));
    expect(most).toBe(16);
  });
});
