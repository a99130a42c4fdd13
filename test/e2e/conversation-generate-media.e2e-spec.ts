import { until } from '../fixtures/until';
import { type Behaviour, json } from '../fixtures/upstream-double';
import { CORE, invocations, newAgent, owner, platform, send, sent, upstream, withGenerating } from './generation-world';
import { ADMIN_KEY } from './harness';

/** Issue 20, number 1: `generateImage`, over HTTP, against a provider that does as it likes. */

withGenerating({ imageModel: 'painter' });

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const dataUrl = (text = PNG): string => `data:image/png;base64,${text}`;
interface Made {
  readonly images: readonly { readonly base64: string; readonly mimeType: string }[];
  readonly base64: string;
  readonly mimeType: string;
  readonly text: string;
  readonly model: string;
  readonly usage: { readonly units: object; readonly cost: string };
  readonly invocationId: string;
  readonly code: string;
  readonly errors: readonly { readonly path: string }[];
}
const make = (agent: string, operation: string, body: object, key = owner.key) =>
  send<Made>(`/llm/${agent}/${operation}`, body, key);
const painting =
  (count = 1, usage?: unknown): Behaviour =>
  (response) =>
    json(response, 200, { created: 1, data: Array.from({ length: count }, () => ({ b64_json: PNG })), usage });
describe('generateImage', () => {
  it('answers images as base64, billed each', async () => {
    const agent = await newAgent();
    upstream.behaviour = painting(2);
    const { status, body } = await make(agent, 'generateImage', { prompt: 'A ferry', n: 2, seed: 5 });
    expect([status, body]).toEqual([
      200,
      {
        images: [
          { base64: PNG, mimeType: 'image/png' },
          { base64: PNG, mimeType: 'image/png' },
        ],
        usage: { units: { images: 2 }, cost: '0.08', currency: 'USD', isIncludedUsage: false },
        model: 'painter',
        invocationId: expect.any(String) as string,
      },
    ]);
    expect(upstream.calls[0]?.path).toBe('/v1/images/generations');
    expect(sent()).toEqual([{ model: 'painter', prompt: 'A ferry', n: 2, seed: 5, response_format: 'b64_json' }]);
    expect(await invocations(agent, 1)).toMatchObject([
      {
        id: body.invocationId,
        kind: 'image',
        outcome: 'ok',
        usage: { units: { images: 2 }, cost: '0.08', currency: 'USD', isIncludedUsage: false },
      },
    ]);
  });

  it.each([
    ['1:1', '1K', '1024x1024'],
    ['4:3', '2K', '2368x1728'],
    ['3:4', '1K', '864x1184'],
    ['16:9', '4K', '5376x3072'],
    ['9:16', '1K', '768x1344'],
  ])('has the ratio %s at %s', async (aspectRatio, resolution, size) => {
    const agent = await newAgent();
    upstream.behaviour = painting();
    await make(agent, 'generateImage', { prompt: 'A ferry', imageConfig: { aspectRatio, resolution } });
    expect(sent()).toMatchObject([{ size }]);
  });

  it('changes an image where its mask says', async () => {
    const agent = await newAgent();
    upstream.behaviour = painting();
    const answer = await make(agent, 'generateImage', { prompt: 'A dog', image: dataUrl(), mask: dataUrl() });
    expect(answer.status).toBe(200);
    expect(upstream.calls[0]?.path).toBe('/v1/images/edits');
    const file = { type: 'image/png', bytes: Buffer.from(PNG, 'base64') };
    expect(sent()).toEqual([
      {
        model: 'painter',
        prompt: 'A dog',
        n: '1',
        response_format: 'b64_json',
        image: { name: 'image.png', ...file },
        mask: { name: 'mask.png', ...file },
      },
    ]);
  });

  it('sends an image as what its bytes are', async () => {
    const agent = await newAgent();
    upstream.behaviour = painting();
    await make(agent, 'generateImage', { prompt: 'A dog', image: `data:image/jpeg;base64,${PNG}` });
    expect(sent()).toMatchObject([{ image: { name: 'image.png', type: 'image/png' } }]);
  });

  it('is billed by tokens where its model is, as its provider reports them', async () => {
    const agent = await newAgent();
    upstream.behaviour = painting(1, { input_tokens: 10, output_tokens: 1_000, total_tokens: 1_010 });
    const imageConfig = { aspectRatio: '16:9', resolution: '1K' };
    const { body } = await make(agent, 'generateImage', { model: 'gpt-image-1', prompt: 'A ferry', imageConfig });
    expect(body.usage).toMatchObject({ units: { images: 1 }, inputTokens: 10, outputTokens: 1_000, cost: '0.04005' });
    expect(sent()).toEqual([{ model: 'gpt-image-1', prompt: 'A ferry', n: 1, size: '1536x1024' }]);
    upstream.behaviour = painting();
    expect((await make(agent, 'generateImage', { model: 'gpt-image-1', prompt: 'A ferry' })).body.usage).toMatchObject({
      outputTokens: 6_240,
    });
  });

  it.each<[string, object]>([
    ['imageConfig.aspectRatio', { imageConfig: { aspectRatio: '2:1', resolution: '1K' } }],
    ['imageConfig.resolution', { imageConfig: { aspectRatio: '1:1', resolution: '8K' } }],
    ['imageConfig.size', { imageConfig: { size: '1x1' } }],
    ['image', { image: 'http://127.0.0.1:1/a.png' }],
    ['image', { image: 'data:image/svg+xml;base64,PHN2Zy8+' }],
    ['image', { image: dataUrl('not base64!') }],
    ['image', { image: dataUrl('') }],
    ['mask', { mask: dataUrl() }],
    ['mask', { image: dataUrl(), mask: 'data:image/jpeg;base64,/9j/' }],
    ['image', { image: dataUrl('PHN2Zy8+') }],
    ['mask', { image: dataUrl(), mask: dataUrl('/9j/') }],
    ['n', { n: 11 }],
    ['n', { n: 0 }],
    ['prompt', { prompt: '' }],
    ['prompt', { prompt: 'x'.repeat(32_001) }],
    ['size', { size: '1x1' }],
    ['response_format', { response_format: 'url' }],
  ])('is a 400 that names %j: %j', async (path, given) => {
    const agent = await newAgent();
    const { status, body } = await make(agent, 'generateImage', { prompt: 'A ferry', ...given });
    expect([status, body.errors[0]?.path]).toEqual([400, path]);
    expect(upstream.calls).toEqual([]);
  });

  it.each<[string, Behaviour]>([
    ['names an address', (response) => json(response, 200, { data: [{ url: 'http://127.0.0.1:1/secret.png' }] })],
    ['has none', (response) => json(response, 200, { data: [] })],
    [
      'sends a page',
      (response) => json(response, 200, { data: [{ b64_json: Buffer.from('<script>').toString('base64') }] }),
    ],
    ['is garbage', (response) => json(response, 200, 'PNG')],
    ['is cut', (response) => void response.writeHead(200).write('{"data":[', () => response.destroy())],
  ])(
    'is an upstream error where the answer %s, and costs no more than what its provider was at',
    async (_, behaviour) => {
      const agent = await newAgent();
      upstream.behaviour = behaviour;
      expect(await make(agent, 'generateImage', { prompt: 'A ferry' })).toMatchObject({
        status: 502,
        body: { code: 'upstream_error' },
      });
      expect((await invocations(agent, 1))[0]).toMatchObject({ outcome: 'failed' });
    },
  );

  it('tells which parameter a provider rejects', async () => {
    const agent = await newAgent();
    upstream.behaviour = (response) => json(response, 400, { error: { param: 'size', code: 'invalid_value' } });
    const imageConfig = { aspectRatio: '1:1', resolution: '4K' };
    expect(await make(agent, 'generateImage', { prompt: 'A ferry', imageConfig })).toMatchObject({
      status: 400,
      body: { code: 'unsupported_parameter', errors: [{ path: 'imageConfig' }] },
    });
    expect((await invocations(agent, 1))[0]).toMatchObject({ usage: { units: { images: 0 }, cost: '0' } });
  });

  it('is asked for in the form that its provider takes', async () => {
    const agent = await newAgent();
    upstream.behaviour = (response, call) =>
      call.body['response_format'] === undefined
        ? painting()(response, call)
        : json(response, 400, { error: { param: 'response_format', code: 'unknown_parameter' } });
    expect((await make(agent, 'generateImage', { prompt: 'A ferry' })).status).toBe(200);
    expect(sent().map((body) => body['response_format'])).toEqual(['b64_json', undefined]);
    expect(await invocations(agent, 1)).toMatchObject([{ outcome: 'ok', usage: { units: { images: 1 } } }]);
  });

  it('is left with its client, and billed whole', async () => {
    const agent = await newAgent();
    let closed = false;
    const left = new AbortController();
    upstream.behaviour = (response) => {
      response.once('close', () => (closed = true));
      left.abort();
    };
    await expect(
      fetch(`${platform.url}${CORE}/llm/${agent}/generateImage`, {
        method: 'POST',
        headers: { 'x-api-key': owner.key, 'content-type': 'application/json' },
        body: JSON.stringify({ prompt: 'A ferry', n: 3 }),
        signal: left.signal,
      }),
    ).rejects.toThrow();
    await until(() => closed, 'the provider is left');
    expect(await invocations(agent, 1)).toMatchObject([
      { outcome: 'aborted', usage: { units: { images: 3 }, cost: '0.12' } },
    ]);
  });

  it('counts against a limit before it is asked for', async () => {
    const agent = await newAgent();
    upstream.behaviour = painting();
    await send('/cost-control', { scope: { type: 'agent', id: agent }, amount: '0.05', window: 'total' }, ADMIN_KEY);
    const paint = async () => (await make(agent, 'generateImage', { prompt: 'A ferry' })).status;
    expect(await paint()).toBe(200);
    expect((await make(agent, 'generateImage', { prompt: 'A ferry', n: 2 })).status).toBe(200);
    await until(async () => (await paint()) === 429, 'the limit');
    expect(upstream.calls.length).toBe(2);
  });
});
