import { ownTime } from '../fixtures/own-time';
import { until } from '../fixtures/until';
import { type Behaviour, chunk, completion, DONE, events, json, USAGE, usageChunk } from '../fixtures/upstream-double';
import {
  ask,
  BASE,
  client,
  dataOf,
  errorOf,
  LEAK,
  platform,
  secrets,
  upstream,
  withFailingGateway,
} from './failing-gateway';

withFailingGateway();

describe('a provider that fails in the middle of a stream', () => {
  const begun = [chunk({ role: 'assistant', content: '' }), chunk({ content: 'Half an' })];

  it.each<[string, Behaviour]>([
    ['is cut', (response) => void events(response, ...begun).write('\n', () => response.destroy())],
    ['ends without a reason', (response) => events(response, ...begun, DONE).end()],
    ['holds garbage', (response) => events(response, ...begun, 'data: {nonsense\n\n').end()],
    ['holds a line that is no event', (response) => events(response, ...begun, 'oops http://internal.host\n\n').end()],
    ['holds an error', (response) => events(response, ...begun, LEAK).end()],
    ['falls silent', (response) => void events(response, ...begun)],
  ])('and %s: an error event, then the end', async (how, behaviour) => {
    const model = how === 'falls silent' ? 'hasty' : 'm';
    upstream.behaviour = (response, call) => behaviour(events(response, begun[0] as object), call);
    const { status, text } = await ask({ stream: true, model });
    expect(status).toBe(200);
    const data = dataOf(text);
    expect(data.at(-1)).toBe('[DONE]');
    expect(errorOf(data.at(-2) as string)).toEqual({
      message: expect.any(String),
      type: 'server_error',
      param: null,
      code: 'upstream_error',
    });
    expect(text).not.toMatch(secrets);
    await expect(async () => {
      for await (const one of await client.chat.completions.create({
        model,
        messages: [{ role: 'user', content: 'Hi' }],
        stream: true,
      }))
        void one;
    }).rejects.toMatchObject({ code: 'upstream_error' });
  });

  it('but only forgot to say it is done: the end is added', async () => {
    upstream.behaviour = (response) => events(response, ...begun, chunk({}, 'stop')).end();
    expect(dataOf((await ask({ stream: true })).text).at(-1)).toBe('[DONE]');
  });

  it('but drips, byte by byte: the stream is whole', async () => {
    const text = [...begun, chunk({}, 'stop')].map((one) => `data: ${JSON.stringify(one)}\r\n\r\n`).join('') + DONE;
    upstream.behaviour = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const byte of Buffer.from(text)) await new Promise((resolve) => response.write(Buffer.of(byte), resolve));
      response.end();
    };
    expect((await ask({ stream: true })).text).toBe(text.replaceAll('\r', '').replaceAll('acme-big', 'm'));
  });

  it('but sends a very long line: it passes', async () => {
    const long = chunk({ content: 'x'.repeat(4_000_000) });
    upstream.behaviour = (response) => events(response, long, chunk({}, 'stop'), DONE).end();
    expect((await ask({ stream: true })).text).toHaveLength(
      JSON.stringify(long).length -
        'acme-big'.length +
        1 +
        'data: \n\n'.length +
        `data: ${JSON.stringify(chunk({}, 'stop', 'm'))}\n\n${DONE}`.length,
    );
  });
});

describe('usage that cannot be', () => {
  it.each([
    undefined,
    { prompt_tokens: -5, completion_tokens: 1, total_tokens: -4 },
    { prompt_tokens: 1e12, completion_tokens: 1, total_tokens: 1e12 },
    { prompt_tokens: 'many' },
    { prompt_tokens: 3, completion_tokens: 0, total_tokens: 3 },
    { prompt_tokens: 3.5, completion_tokens: 2, total_tokens: 5.5 },
  ])('%j is counted here', async (usage) => {
    const counted = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };
    upstream.behaviour = (response, { body }) =>
      body['stream'] === true
        ? events(
            response,
            chunk({ content: 'Half an ans' }),
            chunk({}, 'stop'),
            ...(usage === undefined ? [] : [usageChunk(usage)]),
            DONE,
          ).end()
        : json(response, 200, completion({ content: 'Half an ans' }, 'acme-big', { usage }));
    expect((JSON.parse((await ask({})).text) as { usage: object }).usage).toMatchObject(counted);
    const data = dataOf((await ask({ stream: true, stream_options: { include_usage: true } })).text);
    expect(JSON.parse(data.at(-2) as string)).toMatchObject({ choices: [], usage: counted });
  });

  it('is passed on where it can', async () =>
    expect((JSON.parse((await ask({})).text) as { usage: object }).usage).toEqual(USAGE));
});

describe('a client that leaves', () => {
  it.each<[string, object, Behaviour]>([
    ['before anything came', {}, () => undefined],
    ['before a stream began', { stream: true }, () => undefined],
    ['in the middle of a stream', { stream: true }, (response) => void events(response, chunk({ content: 'a' }))],
    [
      'in the middle of an answer',
      {},
      (response) => void response.writeHead(200, { 'content-type': 'application/json' }).write('{'),
    ],
  ])('%s: the provider learns it within 100 ms', async (_, body, behaviour) => {
    upstream.behaviour = behaviour;
    const learnt: number[] = [];
    // On a machine that is busy otherwise one try may take longer; a wait that were built in would show in all.
    do {
      const controller = new AbortController();
      const answer = ask(body, undefined, controller.signal);
      await until(() => upstream.calls.length === learnt.length + 1, 'the call');
      const leftAt = performance.now();
      controller.abort();
      await expect(answer).rejects.toThrow('aborted');
      await until(() => upstream.cuts.length === learnt.length + 1, 'the cut');
      learnt.push((upstream.cuts.at(-1) as number) - leftAt);
    } while (Math.min(...learnt) >= 100 && learnt.length < 5);
    expect(Math.min(...learnt)).toBeLessThan(100);
  });

  it('at the next second: a revoked key ends its stream, and the provider learns it too', async () => {
    const { key, keyId } = await platform.newCaller();
    upstream.behaviour = (response) => void events(response, chunk({ content: 'a' }));
    const answer = await fetch(`${platform.url}${BASE}/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
    });
    await platform.call(`/api/v1/core/api-keys/${keyId}`, { method: 'DELETE' });
    const took = ownTime();
    const data = dataOf(await answer.text());
    expect(took()).toBeLessThan(5_000);
    expect([errorOf(data.at(-2) as string), data.at(-1)]).toEqual([
      { message: expect.any(String), type: 'invalid_request_error', param: null, code: 'invalid_api_key' },
      '[DONE]',
    ]);
    await until(() => upstream.cuts.length === 1, 'the cut');
  });
});
