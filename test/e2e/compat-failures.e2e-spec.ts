import { type Behaviour, behaves, DONE, events, json } from '../fixtures/upstream-double';
import {
  ask,
  dataOf,
  errorOf,
  LEAK,
  lines,
  platform,
  PROVIDER_KEY,
  secrets,
  upstream,
  withFailingGateway,
} from './failing-gateway';

withFailingGateway();

describe('a provider that fails before it answers', () => {
  it.each<[string, Behaviour, number, object]>([
    [
      '500',
      (response) => json(response, 500, LEAK),
      502,
      { type: 'server_error', param: null, code: 'upstream_error' },
    ],
    [
      '401',
      (response) => json(response, 401, LEAK),
      502,
      { type: 'server_error', param: null, code: 'upstream_error' },
    ],
    [
      '404',
      (response) => json(response, 404, LEAK),
      502,
      { type: 'server_error', param: null, code: 'upstream_error' },
    ],
    [
      'a redirect',
      (response) => response.writeHead(302, { location: 'http://internal.host' }).end(),
      502,
      { type: 'server_error', param: null, code: 'upstream_error' },
    ],
    [
      '429',
      (response) => json(response, 429, LEAK, { 'retry-after': '7' }),
      429,
      { type: 'rate_limit_error', param: null, code: 'rate_limit_exceeded' },
    ],
    [
      '400',
      (response) =>
        json(response, 400, {
          error: { message: PROVIDER_KEY, param: 'messages[0].content', code: 'context_length_exceeded' },
        }),
      400,
      { type: 'invalid_request_error', param: 'messages[0].content', code: 'context_length_exceeded' },
    ],
    [
      '400 and that it is too long in words alone',
      (response) =>
        json(response, 400, {
          object: 'error',
          message: `This model's maximum context length is 4096 tokens. ${PROVIDER_KEY}`,
          param: null,
          code: 400,
        }),
      400,
      { type: 'invalid_request_error', param: 'messages', code: 'context_length_exceeded' },
    ],
    [
      '400 of a small server that it is too long for',
      (response) =>
        json(response, 400, {
          error: { message: 'the request exceeds the available context size (4096 tokens)', code: 400 },
        }),
      400,
      { type: 'invalid_request_error', param: 'messages', code: 'context_length_exceeded' },
    ],
    [
      '422 and words',
      (response) => json(response, 422, LEAK),
      422,
      { type: 'invalid_request_error', param: null, code: null },
    ],
    ['silence', () => undefined, 504, { type: 'server_error', param: null, code: 'upstream_error' }],
    [
      'a closed connection',
      (response) => response.destroy(),
      502,
      { type: 'server_error', param: null, code: 'upstream_error' },
    ],
    [
      'a page',
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>http://internal.host'),
      502,
      { type: 'server_error', param: null, code: 'upstream_error' },
    ],
    [
      '200 with an error',
      (response) => json(response, 200, LEAK),
      502,
      { type: 'server_error', param: null, code: 'upstream_error' },
    ],
  ])('with %s: true status, our words, streaming or not', async (how, behaviour, status, expected) => {
    upstream.behaviour = behaviour;
    for (const stream of [false, true]) {
      const answer = await ask({ stream, model: how === 'silence' ? 'hasty' : 'm' });
      expect([answer.status, errorOf(answer.text)]).toEqual([status, { message: expect.any(String), ...expected }]);
      expect([answer.headers.get('content-type'), answer.headers.get('x-request-id')]).toEqual([
        'application/json; charset=utf-8',
        expect.any(String),
      ]);
      expect(answer.text).not.toMatch(secrets);
      if (status === 429) expect(answer.headers.get('retry-after')).toBe('7');
    }
    expect(lines.join('\n')).not.toMatch(/sk-provider|internal\.host/);
  });

  it('is asked again, a few times, where it may help, and not otherwise', async () => {
    let failures = 2;
    upstream.behaviour = (response, call) => (failures-- > 0 ? json(response, 503, LEAK) : behaves(response, call));
    expect([(await ask({ stream: true })).status, upstream.calls.length]).toEqual([200, 3]);
    upstream.behaviour = (response) => json(response, 503, LEAK);
    expect([(await ask({})).status, upstream.calls.length]).toEqual([502, 6]);
    upstream.behaviour = (response) => json(response, 401, LEAK);
    expect([(await ask({})).status, upstream.calls.length]).toEqual([502, 7]);
  });

  it('with a vector that is none: is asked again', async () => {
    let failures = 2;
    const broken: Behaviour = (response) => json(response, 200, { data: [{ index: 0, embedding: [1, 'x', null] }] });
    upstream.behaviour = (response, call) => (failures-- > 0 ? broken : behaves)(response, call);
    expect([(await ask({ model: 'vectors', input: 'a' }, '/embeddings')).status, upstream.calls.length]).toEqual([
      200, 3,
    ]);
    upstream.behaviour = broken;
    for (const encoding of ['float', 'base64'])
      expect((await ask({ model: 'vectors', input: 'a', encoding_format: encoding }, '/embeddings')).status).toBe(502);
  });

  it.each([
    '[{"index":0,"relevance_score":1e999}]',
    '[{"index":0,"relevance_score":"1"}]',
    '[{"index":1,"relevance_score":1}]',
    '[]',
    '{}',
  ])('with a ranking that is none: is asked again, and the client gets no half of it: %s', async (results) => {
    upstream.behaviour = (response) => json(response, 200, `{"results":${results}}`);
    const { status, text } = await ask({ model: 'ranks', query: 'q', input: ['a'] }, '/rerank');
    expect([status, errorOf(text), upstream.calls.length]).toEqual([
      502,
      expect.objectContaining({ code: 'upstream_error' }),
      3,
    ]);
  });

  it('gives way to the fallback', async () => {
    expect((await ask({ model: 'away' })).status).toBe(503);
    const answer = await ask({ model: 'saved' });
    expect([answer.status, (JSON.parse(answer.text) as { model: string }).model]).toEqual([200, 'saved']);
  });

  it.each<[string, Behaviour]>([
    ['an error in its body', (response) => json(response, 200, LEAK)],
    ['a page', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')],
    ['an error as its first event', (response) => events(response, LEAK, DONE).end()],
    ['an empty stream', (response) => events(response).end()],
    ['a cut before anything', (response) => events(response).write(': hello\n\n', () => response.destroy())],
  ])('with 200 and %s: is asked again, then gives way to the fallback', async (_, behaviour) => {
    upstream.behaviour = (response, call) => (call.body['model'] === 'doubted' ? behaviour : behaves)(response, call);
    for (const stream of [false, true]) {
      upstream.calls.length = 0;
      const answer = await ask({ model: 'doubted', stream });
      expect([answer.status, upstream.calls.map(({ body }) => body['model'])]).toEqual([
        200,
        ['doubted', 'doubted', 'doubted', 'acme-big'],
      ]);
      if (stream) expect(dataOf(answer.text).at(-1)).toBe('[DONE]');
    }
  });

  it('is left alone when it fails again and again', async () => {
    for (let call = 0; call < 10; call += 1) await ask({ model: 'away' });
    const answer = await ask({ model: 'away' });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^[1-5]$/)]);
    const { body } = await platform.call<{ status: string; providers: object[] }>('/health');
    expect([body.status, body.providers]).toEqual([
      'degraded',
      expect.arrayContaining([
        { name: 'away', circuit: 'open' },
        { name: 'acme', circuit: 'closed' },
      ]),
    ]);
    expect((await platform.call('/metrics')).text).toContain('provider_circuit_open{provider="away"} 1');
  });
});

test('a deployment of azure style has a path and a header of its own', async () => {
  expect((await ask({ model: 'deployed' })).status).toBe(200);
  expect([
    upstream.calls[0]?.path,
    upstream.calls[0]?.headers['api-key'],
    upstream.calls[0]?.headers.authorization,
  ]).toEqual(['/openai/deployments/deployed/chat/completions?api-version=2026-01-01', PROVIDER_KEY, undefined]);
});
