import type { Server } from 'node:http';
import type { Settlement } from '@app/spending';
import { until } from '../fixtures/until';
import { behaves, chunk, events, json } from '../fixtures/upstream-double';
import { begin, begun, messages, platform, post, settled, upstream, withMeteredGateway } from './metered-gateway';

withMeteredGateway();

/** How many leave at once. */
const CLIENTS = 500;
/** What may have been made by then, which is more the longer that took. */
const orMore = (tokens: number): unknown => ({
  asymmetricMatch: (found: unknown) => typeof found === 'number' && found >= tokens && found <= 16_384,
});

const said = ({ outcome, usageSource, usage, model }: Settlement) => [
  outcome,
  usageSource,
  usage.inputTokens,
  usage.outputTokens,
  model.key,
];

it.each<[string, object, number]>([
  ['/embeddings', { model: 'vectors', input: ['a', 'b'] }, 2],
  ['/rerank', { model: 'ranks', query: 'q', input: ['a'] }, 2],
])('%s that its provider broke off is held and billed by itself, and what answers too', async (path, body, input) => {
  upstream.behaviour = (response, call) => {
    if (upstream.calls.length > 1) behaves(response, call);
    else response.writeHead(200).write('{', () => response.destroy());
  };
  expect((await post(path, body)).status).toBe(200);
  expect(begun).toHaveLength(2);
  expect(settled.map(({ outcome, usage }) => [outcome, usage.inputTokens])).toEqual([
    ['failed', input],
    ['ok', path === '/rerank' ? 7 : 8],
  ]);
});

it('embeddings that take too long are billed by themselves, and so are those of the fallback', async () => {
  upstream.behaviour = (response, call) => {
    if (call.body['model'] === 'vectors') behaves(response, call);
  };
  expect((await post('/embeddings', { model: 'late-vectors', input: ['a', 'b'] })).status).toBe(200);
  expect(settled.map(said)).toEqual([
    ['failed', 'counted', 2, 0, 'late-vectors'],
    ['ok', 'upstream', 8, 0, 'vectors'],
  ]);
  expect(begun).toHaveLength(2);
});

describe('a call is settled once', () => {
  it.each<[string, string, object, unknown[]]>([
    ['answered', '/chat/completions', { messages }, ['ok', 'upstream', 19, 10, 'm']],
    ['streamed', '/chat/completions', { messages, stream: true }, ['ok', 'upstream', 19, 10, 'm']],
    [
      'streamed with tools',
      '/chat/completions',
      { messages, stream: true, tools: [{ type: 'function', function: { name: 'f' } }] },
      ['ok', 'upstream', 19, 10, 'm'],
    ],
    ['answered by the fallback', '/chat/completions', { model: 'away', messages }, ['ok', 'upstream', 19, 10, 'm']],
    [
      'answered here',
      '/chat/completions',
      { model: 'local-chat', messages },
      ['ok', 'counted', 2, expect.any(Number), 'local-chat'],
    ],
    ['embedded', '/embeddings', { model: 'vectors', input: ['a', 'b'] }, ['ok', 'upstream', 8, 0, 'vectors']],
    ['ranked', '/rerank', { model: 'ranks', query: 'q', input: ['a'] }, ['ok', 'upstream', 7, 0, 'ranks']],
  ])('when it is %s', async (_, path, body, expected) => {
    const response = await post(path, body);
    expect(response.status).toBe(200);
    await response.text();
    expect(settled.map(said)).toEqual([expected]);
    expect(begun).toEqual([expect.objectContaining({ userId: expect.any(String), keyId: expect.any(String) })]);
  });

  it('when it fails: nothing is billed before an answer, and what was produced after, or while its provider took too long', async () => {
    upstream.behaviour = (response) => json(response, 400, {});
    expect((await post('/chat/completions', { messages })).status).toBe(400);
    upstream.behaviour = () => undefined;
    expect((await post('/chat/completions', { model: 'hasty', messages })).status).toBe(504);
    upstream.behaviour = (response) => events(response, chunk({ content: 'Half an answer' }), 'nonsense\n\n').end();
    await (await post('/chat/completions', { messages, stream: true })).text();
    expect(settled.map(said)).toEqual([
      ['failed', 'counted', 0, 0, 'm'],
      ['failed', 'held', 6, orMore(200), 'hasty'],
      ['failed', expect.any(String), 6, orMore(4), 'm'],
    ]);
  });

  it('when its client leaves: the input, and what may have been produced', async () => {
    for (const stream of [false, true]) {
      upstream.calls.length = 0;
      upstream.behaviour = (response) =>
        stream ? void events(response, chunk({ content: 'Half an answer' })) : undefined;
      const left = new AbortController();
      const answer = post('/chat/completions', { messages, stream }, left.signal);
      if (stream) await ((await answer).body as ReadableStream).getReader().read();
      else await until(() => upstream.calls.length === 1, 'the call');
      left.abort();
      if (!stream) await expect(answer).rejects.toThrow('aborted');
      await until(() => settled.length === (stream ? 2 : 1), 'the settlement');
    }
    expect(settled.map(said)).toEqual([
      ['aborted', 'held', 6, orMore(500), 'm'],
      ['aborted', 'held', 6, orMore(500), 'm'],
    ]);
  });

  it('when its client leaves while the fallback is asked: with its prices', async () => {
    upstream.behaviour = () => undefined;
    const left = new AbortController();
    const answer = post('/chat/completions', { model: 'away', messages }, left.signal);
    await until(() => upstream.calls.length === 1, 'the call');
    left.abort();
    await expect(answer).rejects.toThrow('aborted');
    await until(() => settled.length === 1, 'the settlement');
    expect(settled.map(said)).toEqual([['aborted', 'held', 6, orMore(500), 'm']]);
  });

  it('when its client leaves while no provider answers: with nothing', async () => {
    for (const [path, body] of [
      ['/chat/completions', { messages }],
      ['/chat/completions', { messages, stream: true }],
      ['/embeddings', { model: 'vectors', input: 'a' }],
    ] as const) {
      settled.length = 0;
      const left = new AbortController();
      let isRefused = false;
      upstream.behaviour = (response) =>
        void response
          .once('close', () => (isRefused = true))
          .writeHead(500)
          .end();
      // Between one try and the next, as soon as it is drawn how long that lasts: a second.
      jest.spyOn(Math, 'random').mockImplementation(() => {
        if (isRefused) left.abort();
        return 5;
      });
      await expect(post(path, body, left.signal)).rejects.toThrow('aborted');
      await until(() => settled.length === 1, 'the settlement');
      expect(settled.map(said)).toEqual([['aborted', 'counted', 0, 0, 'model' in body ? body.model : 'm']]);
    }
    jest.mocked(Math.random).mockRestore();
  });

  it('when its client leaves behind an early report: what that tells, and what may have been produced since', async () => {
    const usage = { prompt_tokens: 19, completion_tokens: 1, total_tokens: 20 };
    upstream.behaviour = (response) =>
      void events(
        response,
        chunk({ role: 'assistant', content: '' }, null, 'acme-big', { usage }),
        chunk({ content: 'Half an answer' }),
      );
    const left = new AbortController();
    const reader = (
      (await post('/chat/completions', { messages, stream: true }, left.signal)).body as ReadableStream<Uint8Array>
    ).getReader();
    for (let heard = ''; !heard.includes('answer');) heard += Buffer.from((await reader.read()).value ?? []).toString();
    left.abort();
    await until(() => settled.length === 1, 'the settlement');
    expect(settled.map(said)).toEqual([['aborted', 'held', 19, orMore(501), 'm']]);
  });

  it.each<[string, object]>([
    ['/chat/completions', { messages }],
    ['/chat/completions', { messages, stream: true }],
    ['/embeddings', { model: 'vectors', input: 'a' }],
    ['/rerank', { model: 'ranks', query: 'q', input: ['a'] }],
  ])('or not at all when its client leaves while limits are asked: %s %j', async (path, body) => {
    const [asked, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const cancel = jest.fn();
    begin.mockImplementationOnce(async (call) => {
      begun.push(call);
      await asked.promise;
      return {
        invocationId: 'i',
        isHeld: false,
        isIncludedUsage: false,
        cancel,
        settle: () => Promise.reject(new Error('nothing was called')),
      };
    });
    (platform.platform.app.getHttpServer() as Server).once('request', (_, response) =>
      response.once('close', closed.resolve),
    );
    const left = new AbortController();
    const answer = post(path, body, left.signal);
    await until(() => begun.length === 1, 'the call');
    left.abort();
    await expect(answer).rejects.toThrow('aborted');
    await closed.promise;
    asked.resolve();
    await until(() => cancel.mock.calls.length === 1, 'what was held to be given back');
    expect([upstream.calls, settled]).toEqual([[], []]);
  });

  it('when 500 clients leave at once: each of them, and no connection to the provider stays', async () => {
    upstream.behaviour = (response) => void events(response, chunk({ content: 'Half an answer' }));
    const left = new AbortController();
    const answers = await Promise.all(
      Array.from({ length: CLIENTS }, () => post('/chat/completions', { messages, stream: true }, left.signal)),
    );
    left.abort();
    await Promise.all(answers.map((answer) => expect(answer.text()).rejects.toThrow('aborted')));
    await until(() => settled.length === CLIENTS && upstream.open === 0, 'a settlement and a cut for each');
    for (const one of settled) expect(said(one)).toEqual(['aborted', 'held', 6, orMore(500), 'm']);
  });

  it('and is not begun where its body is wrong', async () => {
    expect((await post('/chat/completions', { messages: [] })).status).toBe(400);
    expect(begun).toEqual([]);
  });
});
