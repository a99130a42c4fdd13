import { connect } from 'node:net';
import { until } from '../fixtures/until';
import { chunk, events } from '../fixtures/upstream-double';
import { ADMIN_KEY } from './harness';
import { ask, BASE, messages, platform, upstream, withHostileGateway } from './hostile-gateway';

withHostileGateway();

const send = async (payload: string, path = '/chat/completions', headers: Record<string, string> = {}) => {
  const { status, body } = await platform.call<{ error?: { param: string } }>(`${BASE}${path}`, {
    method: 'POST',
    payload,
    headers,
  });
  return { status, error: { param: body.error?.param } };
};

const codeOf = (text: string) => (JSON.parse(text) as { error: { code: string } }).error.code;
describe('a hostile client', () => {
  it.each(['none', '', 'M', 'm ', ' m', 'm\u200b', 'openai/m', 'm*', 'x'.repeat(10_000), '__proto__', 'constructor'])(
    'reaches no model by another name: %#',
    async (model) => {
      const { status, text } = await ask({ model });
      expect([status, codeOf(text), upstream.calls]).toEqual([404, 'model_not_found', []]);
    },
  );

  it.each([
    ['/chat/completions', 'vectors'],
    ['/chat/completions', 'ranks'],
    ['/embeddings', 'm'],
    ['/embeddings', 'ranks'],
    ['/rerank', 'm'],
    ['/rerank', 'vectors'],
  ])('gets nothing from %s for %s, a model of another kind', async (path, model) => {
    const { status, text } = await ask({ model, input: 'a', query: 'q' }, path);
    expect([status, codeOf(text), upstream.calls]).toEqual([404, 'model_not_found', []]);
  });

  it('redirects no call, and adds nothing to one', async () => {
    await ask({
      api_base: 'http://127.0.0.1:1',
      base_url: 'http://127.0.0.1:1',
      api_key: 'x',
      extra_headers: { a: 'b' },
      extra_body: { n: 5 },
      proxy: 'x',
      organization: 'x',
    });
    expect(upstream.calls.map(({ body, path }) => [path, body])).toEqual([
      ['/v1/chat/completions', { model: 'm', messages }],
    ]);
    expect(Object.keys(upstream.calls[0]?.headers ?? {}).toSorted()).toEqual([
      'connection',
      'content-length',
      'content-type',
      'host',
      'user-agent',
    ]);
  });

  it('that says a field twice has said it once: what was checked is what goes on', async () => {
    const twice =
      '{"model":"none","model":"m","messages":[{"role":"user","role":"user","content":"Ho","content":"Hi"}],"n":5,"n":1,"max_tokens":9,"max_tokens":7,"max_completion_tok\\u0065ns":9,"max_completion_tokens":8,"stream":true,"stream":false,"temperature":9,"temperature":1}';
    expect((await send(twice)).status).toBe(200);
    const gone = JSON.stringify({ model: 'm', messages, temperature: 1, max_completion_tokens: 8 });
    // The length tells that nothing stands there twice any more.
    expect(upstream.calls.map(({ body, headers }) => [JSON.stringify(body), headers['content-length']])).toEqual([
      [gone, String(gone.length)],
    ]);
    for (const [once, again] of [
      ['"n":1', '"n":5'],
      ['"model":"m"', '"model":"none"'],
      ['"max_tokens":7', '"max_tokens":0'],
      ['"stream":false', '"stream":"yes"'],
    ]) {
      expect(
        (await send(`{"model":"m","messages":${JSON.stringify(messages)},${once},${again}}`)).status,
      ).toBeGreaterThanOrEqual(400);
    }
    expect(upstream.calls).toHaveLength(1);
  });

  it('cannot make the gateway fetch a picture, nor have its provider fetch one from where it stands', async () => {
    const asking = (url: string, type = 'image_url') =>
      ask({ messages: [{ role: 'user', content: [{ type, [type]: { url } }] }] });
    for (const url of [
      `${upstream.baseUrl}/picture`,
      'http://169.254.169.254/latest/meta-data',
      'http://metadata.google.internal/',
      'file:///etc/passwd',
      'data:image/svg+xml,<svg/>',
    ]) {
      for (const type of ['image_url', 'video_url']) {
        const { status, text } = await asking(url, type);
        expect([status, JSON.parse(text)]).toEqual([
          400,
          { error: expect.objectContaining({ param: `messages[0].content[0].${type}.url`, code: 'invalid_value' }) },
        ]);
      }
    }
    expect(upstream.calls).toEqual([]);
    for (const url of ['https://example.com/a.png', 'data:image/png;base64,AA=='])
      expect((await asking(url)).status).toBe(200);
    expect(upstream.calls.map(({ path }) => path)).toEqual(['/v1/chat/completions', '/v1/chat/completions']);
    expect((await asking(`data:image/png;base64,${'A'.repeat(33 * 1024 ** 2)}`)).status).toBe(413);
  });

  it.each<[string, (address: string) => object]>([
    ['image_url', (address) => ({ type: 'input_image', image_url: address })],
    ['image', (address) => ({ type: 'image', image: address })],
    ['video[1]', (address) => ({ type: 'video', video: ['https://example.com/a.png', address] })],
    ['source.url', (address) => ({ type: 'image', source: { type: 'url', url: address } })],
    ['file.file_id', (address) => ({ type: 'file', file: { file_id: address } })],
    ['content[0].source.url', (address) => ({ type: 'tool_result', content: [{ source: { url: address } }] })],
  ])('cannot have a provider fetch from where it stands by what another part calls it: %s', async (param, part) => {
    const asking = (address: string) => ask({ messages: [{ role: 'user', content: [part(address)] }] });
    for (const address of [
      'http://169.254.169.254/latest',
      ' HTTP://10.0.0.1/ a',
      'file:///etc/passwd',
      's3://bucket/a',
    ]) {
      const { status, text } = await asking(address);
      expect([status, JSON.parse(text)]).toEqual([
        400,
        { error: expect.objectContaining({ param: `messages[0].content[0].${param}`, code: 'invalid_value' }) },
      ]);
    }
    expect(upstream.calls).toEqual([]);
    expect((await asking('https://example.com/a.png')).status).toBe(200);
  });

  it('may say any address in words, and send files of any type', async () => {
    const content = [
      { type: 'text', text: 'http://10.0.0.1/', annotations: [{ url_citation: { url: 'http://intranet/' } }] },
      { type: 'thinking', thinking: 'http://10.0.0.1/', signature: 'a' },
      { type: 'tool_result', content: 'http://10.0.0.1/ is up' },
      { type: 'file', file: { filename: 'a.csv', file_data: 'data:text/csv;base64,AA==' } },
      { type: 'file', file: { file_id: 'file-abc' } },
      { type: 'input_audio', input_audio: { format: 'wav', data: 'AA==' } },
    ];
    expect((await ask({ messages: [{ role: 'user', content }] })).status).toBe(200);
  });

  it.each([
    'temperature',
    'top_p',
    'frequency_penalty',
    'presence_penalty',
    'seed',
    'max_tokens',
    'max_completion_tokens',
    'n',
  ])('gets 400 for a %s that is no number, or too large a one', async (name) => {
    for (const value of ['1e309', '-1e309', '"1"', '[1]', String(2 ** 53), '-3']) {
      const { status, error } = await send(
        `{"model":"m","messages":[{"role":"user","content":"Hi"}],"${name}":${value}}`,
      );
      // Any whole number is a seed.
      expect([value, status, error.param]).toEqual(
        name === 'seed' && Number.isInteger(JSON.parse(value)) ? [value, 200, undefined] : [value, 400, name],
      );
    }
  });

  it.each<[string, object, string]>([
    ['/embeddings', { model: 'vectors', input: 'a', dimensions: 0 }, 'dimensions'],
    ['/embeddings', { model: 'vectors', input: 'a', dimensions: -1 }, 'dimensions'],
    ['/embeddings', { model: 'vectors', input: 'a', dimensions: 1.5 }, 'dimensions'],
    ['/embeddings', { model: 'vectors', input: ['a', ''] }, 'input[1]'],
    ['/embeddings', { model: 'vectors', input: ['a', null] }, 'input[1]'],
    ['/embeddings', { model: 'vectors', input: 'a', encoding_format: 'hex' }, 'encoding_format'],
    ['/rerank', { model: 'ranks', query: 'q', input: ['a'], top_k: -1 }, 'top_k'],
    ['/rerank', { model: 'ranks', query: 'q', input: ['a'], top_k: 1.5 }, 'top_k'],
    ['/rerank', { model: 'ranks', query: 'q', input: ['a'], top_k: '2' }, 'top_k'],
    ['/rerank', { model: 'ranks', query: 'q', input: ['a', 1] }, 'input[1]'],
  ])('gets 400 from %s for %j', async (path, body, param) => {
    const { status, error } = await send(JSON.stringify(body), path);
    expect([status, error.param, upstream.calls]).toEqual([400, param, []]);
  });

  it.each([1e9, 2 ** 53])(
    'gets every document once where it asks for more than there are (%d), or sends one twice',
    async (top) => {
      const { text } = await ask({ model: 'ranks', query: 'q', input: ['aa', 'aa', 'a'], top_k: top }, '/rerank');
      expect((JSON.parse(text) as { data: object[] }).data).toEqual([
        { index: 0, relevance_score: 2 },
        { index: 1, relevance_score: 2 },
        { index: 2, relevance_score: 1 },
      ]);
    },
  );

  it('hears of a number that is too large, not that it were none', async () => {
    const { text } = await ask({ model: 'vectors', input: 'a', dimensions: 2 ** 53 }, '/embeddings');
    expect(JSON.parse(text)).toMatchObject({
      error: { code: 'invalid_value', message: expect.stringContaining('at most 9007199254740991') },
    });
    expect(upstream.calls).toEqual([]);
  });

  it.each([
    ['100,000 messages', { messages: Array.from({ length: 100_000 }, () => messages[0]) }],
    ['10,000 tools', { tools: Array.from({ length: 10_000 }, () => ({ type: 'function', function: { name: 'f' } })) }],
    ['a schema 10,000 deep', { tools: 'deep' }],
  ])('gets 400 for %s', async (_, more) => {
    const deep = `[{"type":"function","function":{"name":"f","parameters":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}}]`;
    const { status } = await send(JSON.stringify({ model: 'm', messages, ...more }).replace('"deep"', deep));
    expect([status, upstream.calls]).toEqual([400, []]);
  });

  it('may use a key of idempotency, which other clients of models send, without any effect', async () => {
    for (const content of ['Hi', 'Ho'])
      expect(
        (
          await send(JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }), undefined, {
            'idempotency-key': 'same',
          })
        ).status,
      ).toBe(200);
    expect(upstream.calls).toHaveLength(2);
  });

  it.each([
    { temperature: -1 },
    { max_tokens: 1.5 },
    { seed: 0.5 },
    { messages: Array.from({ length: 10_001 }, () => messages[0]) },
    { tools: Array.from({ length: 1_025 }, () => ({ type: 'function', function: { name: 'f' } })) },
  ])('gets 400 for numbers and lengths that cannot be', async (body) => {
    expect([(await ask(body)).status, upstream.calls]).toEqual([400, []]);
  });

  it('that reads nothing holds up its provider, and nothing piles up here', async () => {
    let written = 0;
    let halted = false;
    upstream.behaviour = (response) => {
      events(response, chunk({ content: 'a' }));
      const text = `data: ${JSON.stringify(chunk({ content: 'x'.repeat(60_000) }, null, 'm'))}\n\n`;
      const fill = (): void => {
        while (written < 200_000_000 && !response.destroyed) {
          written += text.length;
          if (!response.write(text)) {
            halted = true;
            return;
          }
        }
      };
      response.on('drain', () => {
        halted = false;
        fill();
      });
      fill();
    };
    const body = JSON.stringify({ model: 'm', messages, stream: true });
    const { hostname, port } = new URL(platform.url);
    const socket = connect(Number(port), hostname, () =>
      socket.write(
        `POST ${BASE}/chat/completions HTTP/1.1\r\nhost: x\r\nx-api-key: ${ADMIN_KEY}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      ),
    );
    socket.pause();
    // Nothing more is written while the product has the time for so many other calls.
    await until(async () => {
      const before = written;
      for (let call = 0; call < 50; call += 1) await platform.call(`${BASE}/models`);
      return halted && written === before;
    }, 'the halt');
    expect(written).toBeLessThan(50_000_000);
    socket.destroy();
    await until(() => upstream.cuts.length === 1, 'the cut');
  });
});
