import {
  type Behaviour,
  json,
  startUpstreamDouble,
  type UpstreamDouble,
} from '../../../../test/fixtures/upstream-double';
import { type ModelDescription, type ProviderDescription, readCatalogue } from '../catalogue';
import type { EmbeddingRequest } from '../provider';
import { OpenAiProvider } from './openai-provider';
import { Upstream } from './upstream';

let double: UpstreamDouble;
const opened: Upstream[] = [];
beforeAll(async () => void (double = await startUpstreamDouble()));
beforeEach(() => void (double.calls.length = 0));
afterAll(async () => {
  await Promise.all(opened.map((upstream) => upstream.close()));
  await double.stop();
});

const { dimensions: _, ...described } = readCatalogue(undefined, 'USD').models.get(
  'local-embedding',
) as ModelDescription;
const model: ModelDescription = {
  ...described,
  key: 'big',
  modelId: 'acme-big',
  provider: 'acme',
  queryPrefix: 'q: ',
};
const fallback: ModelDescription = { ...model, key: 'other', modelId: 'acme-other' };
/** Embeds with a model, then its fallbacks, each at a provider of its own. */
const embed = (texts: string[], given: Partial<EmbeddingRequest> = { purpose: 'query' }, models = [model]) => {
  const description: ProviderDescription = {
    kind: 'openai',
    baseUrl: double.baseUrl,
    apiVersion: '1',
    timeoutMs: 30_000,
    forward: ['truncate'],
  };
  const routes = models.map((each) => ({ model: each, upstream: new Upstream('acme', description, undefined) }));
  opened.push(...routes.map(({ upstream }) => upstream));
  const { signal } = new AbortController();
  return new OpenAiProvider(new Map([[model.key, routes]])).embed({ model, texts, signal, ...given });
};
const answers =
  (body: object): Behaviour =>
  (response) =>
    json(response, 200, body);
const VECTOR = { data: [{ index: 0, embedding: [1] }] };

describe('embeddings', () => {
  it('of as many texts as a client may send are taken, however wordily they are written', async () => {
    // As long as 1,536 numbers are, each on a line of its own.
    const space = ' '.repeat(36_000);
    const vectors = Array.from(
      { length: 2_048 },
      (__, index) => `{"index":${index},"embedding":[${index + 1}${space}]}`,
    );
    double.behaviour = (response) => json(response, 200, `{"data":[${vectors.join(',')}]}`);
    const texts = Array.from({ length: 2_048 }, () => 'a');
    expect((await embed(texts, {})).vectors.at(-1)).toEqual([2_048]);
    await expect(embed(texts, {}, [{ ...model, dimensions: 1 }])).rejects.toMatchObject({ kind: 'broken' });
  });

  it('are asked for as base64 where there are very many, and otherwise where that is rejected', async () => {
    const texts = Array.from({ length: 513 }, () => 'a');
    const vectors = texts.map((__, index) => ({ index, embedding: [1] }));
    double.behaviour = (response, { body }) =>
      body['encoding_format'] === undefined
        ? json(response, 200, { data: vectors })
        : json(response, 400, { error: { param: 'encoding_format', code: 'unknown_parameter' } });
    expect((await embed(texts, {})).vectors).toHaveLength(513);
    await expect(embed(['a'], {})).rejects.toMatchObject({ kind: 'broken' });
    expect(double.calls.slice(0, 3).map(({ body }) => body['encoding_format'])).toEqual([
      'base64',
      undefined,
      undefined,
    ]);
  });

  it('are rejected at once where they have other dimensions than described, unless the client asked for fewer', async () => {
    double.behaviour = answers(VECTOR);
    const described = [{ ...model, dimensions: 3 }, fallback];
    for (const given of [{ purpose: 'passage' as const }, {}])
      await expect(embed(['a'], given, described)).rejects.toMatchObject({
        kind: 'rejected',
        facts: { code: 'dimensions_mismatch' },
        cause: {
          message:
            'The model big gives vectors of 1 dimensions, not of 3. Correct "dimensions" in MODELS_FILE, or name the model that was meant.',
        },
      });
    expect(double.calls).toHaveLength(2);
    expect((await embed(['a'], { forwarded: { dimensions: 1 } }, described)).vectors).toEqual([[1]]);
    expect((await embed(['a'], {}, [{ ...model, dimensions: 1 }])).vectors).toEqual([[1]]);
  });

  it.each([{ usage: { prompt_tokens: 7, total_tokens: 7 } }, {}])(
    'are unit vectors in the order of the texts, prefixed as the model wants, with what was reported: %j',
    async (reported: { usage?: { prompt_tokens: number } }) => {
      const data = [
        { index: 1, embedding: [0, 2] },
        { index: 0, embedding: [3, 4] },
      ];
      double.behaviour = answers({ data, ...reported });
      const { vectors, usage } = await embed(['a', 'b']);
      expect(usage?.inputTokens).toEqual(reported.usage?.prompt_tokens);
      expect(vectors.map((vector) => [...vector].map((value) => Math.round(value * 10) / 10))).toEqual([
        [0.6, 0.8],
        [0, 1],
      ]);
      expect(double.calls[0]?.body['input']).toEqual(['q: a', 'q: b']);
    },
  );

  it('are given as they came to clients, who may send fields that the provider wants', async () => {
    double.behaviour = answers({ data: [{ index: 0, embedding: [3, 4] }], usage: { total_tokens: 5 } });
    const forwarded = { truncate: true, other: 1, model: 'x' };
    const { vectors, usage } = await embed(['a'], { user: 'u', forwarded });
    expect([vectors, usage?.inputTokens]).toEqual([[[3, 4]], 5]);
    expect(double.calls[0]?.body).toEqual({ model: 'acme-big', input: ['a'], user: 'u', truncate: true });
  });

  it.each([
    ['too few', [{ index: 0, embedding: [1, 0] }]],
    [
      'of different lengths',
      [
        { index: 0, embedding: [1, 0] },
        { index: 1, embedding: [1] },
      ],
    ],
    [
      'of length zero',
      [
        { index: 0, embedding: [0, 0] },
        { index: 1, embedding: [1, 0] },
      ],
    ],
  ])('that are %s are rejected', async (_, data) => {
    double.behaviour = answers({ data });
    await expect(embed(['a', 'b'])).rejects.toMatchObject({ kind: 'broken' });
  });

  it.each<[string, Partial<EmbeddingRequest>, ModelDescription, string, number]>([
    ['for clients comes from the fallback', {}, fallback, 'other', 4],
    [
      'for Knowledge comes from the same model elsewhere',
      { purpose: 'query' },
      { ...fallback, modelId: 'acme-big' },
      'other',
      4,
    ],
    [
      'for Knowledge never comes from another model, whose vectors nobody could compare',
      { purpose: 'query' },
      fallback,
      'broken',
      3,
    ],
    [
      'for Knowledge never comes from a provider that is trusted less',
      { purpose: 'query' },
      { ...fallback, modelId: 'acme-big', securityTier: 'us-cloud' },
      'broken',
      3,
    ],
  ])('of a provider that fails: what is %s', async (_, given, other, expected, calls) => {
    double.behaviour = (response, call) =>
      double.calls.length <= 3 ? json(response, 503, {}) : answers(VECTOR)(response, call);
    const came = await embed(['a'], given, [model, other]).then(
      (embeddings) => embeddings.model.key,
      ({ kind }: { kind: string }) => kind,
    );
    expect([came, double.calls.length]).toEqual([expected, calls]);
  });
});
