import { gzipSync } from 'node:zlib';
import { until } from '../fixtures/until';
import { behaves, chunk, completion, DONE, events } from '../fixtures/upstream-double';
import { ask, BASE, lines, upstream, withHostileGateway } from './hostile-gateway';

withHostileGateway();

describe('a hostile provider', () => {
  it('sends no header to a client', async () => {
    for (const stream of [false, true]) {
      upstream.behaviour = (response) => {
        response.setHeader('set-cookie', 'a=b');
        response.setHeader('x-internal', 'secret');
        return behaves(response, upstream.calls.at(-1) as (typeof upstream.calls)[0]);
      };
      const { status, headers } = await ask({ stream });
      expect([status, headers.get('set-cookie'), headers.get('x-internal'), headers.get('x-request-id')]).toEqual([
        200,
        null,
        null,
        expect.any(String),
      ]);
    }
  });

  it('that sends a line without end is broken, and its line is not kept', async () => {
    upstream.behaviour = (response) => {
      events(response, chunk({ content: 'a' }), 'data: ');
      const piece = Buffer.alloc(1024 * 1024, 0x78);
      const fill = (): void => {
        while (!response.destroyed && response.write(piece));
      };
      response.on('drain', fill);
      fill();
    };
    const { status, text } = await ask({ stream: true });
    expect([status, text.length < 2_000, text.includes('upstream_error'), text.endsWith(DONE)]).toEqual([
      200,
      true,
      true,
      true,
    ]);
    await until(() => upstream.cuts.length === 1, 'the cut');
  });

  it('ends where it says so: what comes behind is not passed on', async () => {
    upstream.behaviour = (response) =>
      events(response, chunk({ content: 'a' }), chunk({}, 'stop'), DONE, DONE, chunk({ content: 'more' })).end();
    const { text } = await ask({ stream: true });
    expect([text.split('[DONE]').length - 1, text.includes('more')]).toEqual([1, false]);
  });

  it('that never closes behind its end is left within seconds', async () => {
    upstream.behaviour = (response) => void events(response, chunk({ content: 'a' }), chunk({}, 'stop'), DONE);
    expect((await ask({ stream: true })).text).toContain('[DONE]');
    await until(() => upstream.cuts.length === 1, 'the cut');
  });

  it('that compresses unasked, or sends too much, is broken', async () => {
    upstream.behaviour = (response, { body }) =>
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
        .end(gzipSync(JSON.stringify(completion({ content: 'a' }, body['model']))));
    expect((await ask({})).status).toBe(502);
    upstream.behaviour = (response) =>
      response
        .writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' })
        .end(gzipSync(`data: ${JSON.stringify(chunk({ content: 'x'.repeat(20_000_000) }))}\n\n${DONE}`));
    expect((await ask({ stream: true })).status).toBe(502);
    upstream.behaviour = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const piece = Buffer.alloc(1024 * 1024, 0x20);
      const fill = (): void => {
        while (!response.destroyed && response.write(piece));
      };
      response.on('drain', fill);
      fill();
    };
    expect((await ask({})).status).toBe(502);
  });
});

test('each call has one line in the log, streams too', async () => {
  for (const stream of [false, true]) {
    lines.length = 0;
    await ask({ stream });
    const logged = () =>
      lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ msg }) => msg === 'request');
    await until(() => logged().length > 0, 'the line');
    expect(logged()).toEqual([
      expect.objectContaining({ route: `${BASE}/chat/completions`, status: 200, requestId: expect.any(String) }),
    ]);
  }
});
