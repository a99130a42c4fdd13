import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCatalogue } from './catalogue';

const folder = mkdtempSync(join(tmpdir(), 'models-'));
afterAll(() => rmSync(folder, { recursive: true }));

const read = (content: string) => {
  const file = join(folder, 'models.yaml');
  writeFileSync(file, content);
  return readCatalogue(file, 'USD');
};
const provider = '"providers": { "acme": { "kind": "openai", "baseUrl": "http://127.0.0.1:1/v1" } }';

describe('the model catalogue', () => {
  it('always has the local models, as the defaults', () => {
    const { models, ...defaults } = readCatalogue(undefined, 'USD');
    expect([...models.keys()]).toEqual(['local-chat', 'local-embedding', 'local-reranker']);
    expect(defaults).toMatchObject({
      defaultModel: 'local-chat',
      embeddingModel: 'local-embedding',
      rerankerModel: 'local-reranker',
    });
  });

  it('reads the documented example', () => {
    const catalogue = readCatalogue(join(__dirname, '../../../config/models.json'), 'USD');
    expect(catalogue.models.get(catalogue.defaultModel)?.kind).toBe('chat');
  });

  it('has defaults for images, speech and transcription where the file names them, of their kind', () => {
    expect(readCatalogue(undefined, 'USD')).toMatchObject({
      imageModel: null,
      speechModel: null,
      transcriptionModel: null,
    });
    const file = (defaults: object) =>
      JSON.stringify({
        ...defaults,
        providers: { acme: { kind: 'openai', baseUrl: 'http://127.0.0.1:1/v1' } },
        models: [{ key: 'a', provider: 'acme', kind: 'image', pricing: 'free' }],
      });
    expect(read(file({ imageModel: 'a' })).imageModel).toBe('a');
    expect(() => read(file({ imageModel: 'a', speechModel: 'a', transcriptionModel: 'b' }))).toThrow(
      'a is not a speech model; b is not a transcription model',
    );
  });

  it('may name a chat model for titles, or none with null; by default the one that answered gives them', () => {
    const file = (titleModel?: string | null) =>
      JSON.stringify({
        titleModel,
        providers: { acme: { kind: 'openai', baseUrl: 'http://127.0.0.1:1/v1' } },
        models: [
          { key: 'a', provider: 'acme', kind: 'chat', pricing: 'free' },
          { key: 'b', provider: 'acme', kind: 'image', pricing: 'free' },
        ],
      });
    expect([undefined, null, 'a'].map((key) => read(file(key)).titleModel)).toEqual([undefined, null, 'a']);
    expect(() => read(file('b'))).toThrow('b is not a chat model');
  });

  it('reads YAML, and takes the key as the model id and display name', () => {
    const { models } = read(
      'defaultModel: big\nproviders: { acme: { kind: openai, baseUrl: "http://127.0.0.1:1/v1" } }\nmodels:\n  - { key: big, provider: acme, kind: chat, pricing: free }\n',
    );
    expect(models.get('big')).toMatchObject({ modelId: 'big', displayName: 'big', pricing: 'free' });
  });

  it('tells of every mistake at once, each with its model', () => {
    const model = (key: string, more: object) => ({ key, provider: 'acme', kind: 'chat', pricing: 'free', ...more });
    const models = [
      model('a', { provider: 'b' }),
      model('c', { provider: 'd', region: 5 }),
      model('e', { pricing: { currency: 'EUR', input: '1', output: '1' } }),
      model('e', {}),
      model('f', { pricing: undefined }),
      model('g', { pricing: { currency: 'USD', input: 'much', output: '1' } }),
      model('h', { fallback: 'i' }),
      model('j', { fallback: 'f' }),
      5,
    ];
    const content = JSON.stringify({
      defaultModel: 'f',
      rerankerModel: 'a',
      providers: { acme: { kind: 'openai', baseUrl: 'nowhere' } },
      models,
    });
    expect(() => read(content)).toThrow(
      expect.objectContaining({
        message: `MODELS_FILE is invalid: ${[
          'providers.acme.baseUrl: must be a URL such as https://example.com',
          'the model c: region: must be a string, not a number',
          'the model f: pricing: must be "free", or prices such as { "currency": "USD", "input": "0.25", "output": "2.00" }',
          'the model g: pricing.input: must be a decimal number of at most 12 decimals',
          'models.8: must be an object, not a number',
          'the model a names the unknown provider b',
          'the model c names the unknown provider d',
          'the model e is listed twice',
          'the model e is priced in EUR, not in USD',
          'the fallback i of the model h is not another chat model of a provider',
        ].join('; ')}.`,
      }),
    );
  });

  it.each(['http://user:secret@127.0.0.1:1/v1', 'http://user@127.0.0.1:1/v1', 'http://127.0.0.1:1/v1#top'])(
    'takes no address of which a part would not be sent: %s',
    (baseUrl) => {
      const file = JSON.stringify({ providers: { acme: { kind: 'openai', baseUrl } } });
      expect(() => read(file)).toThrow(
        'MODELS_FILE is invalid: providers.acme.baseUrl: must have no user, password or fragment.',
      );
      const hub = JSON.stringify({ providers: { acme: { kind: 'transformers', hub: baseUrl } } });
      expect(() => read(hub)).toThrow('providers.acme.hub: must have no user, password or fragment.');
    },
  );

  it.each([
    ['nothing', undefined, 'pricing: must be "free", or prices such as'],
    ['a word', 'gratis', 'pricing: must be "free", or prices such as'],
    ['no currency', { input: '1', output: '2' }, 'pricing.currency: must be a currency such as "USD"'],
    ['an unknown price', { currency: 'USD', input: '1', output: '2', tax: '3' }, 'pricing: has an unknown field: tax'],
    [
      'a price below zero',
      { currency: 'USD', input: -1, output: '2' },
      'pricing.input: must be a decimal number of at most 12 decimals',
    ],
    [
      'a price that is none',
      { currency: 'USD', input: {}, output: '2' },
      'pricing.input: must be a decimal number of at most 12 decimals',
    ],
  ])('says what pricing must be where it is %s', (_, pricing, sentence) =>
    expect(() =>
      read(
        JSON.stringify({
          providers: { acme: { kind: 'openai', baseUrl: 'http://127.0.0.1:1/v1' } },
          models: [{ key: 'a', provider: 'acme', kind: 'chat', pricing }],
        }),
      ),
    ).toThrow(`the model a: ${sentence}`),
  );

  const priced = (kind: string, prices: object) =>
    read(
      `{ ${provider}, "models": [{ "key": "a", "provider": "acme", "kind": "${kind}", "pricing": ${JSON.stringify({ currency: 'USD', ...prices })} }] }`,
    );

  it.each([
    ['chat', {}],
    ['chat', { perImage: '1' }],
    ['chat', { input: '1' }],
    ['chat', { output: '1', cachedInput: '1' }],
    ['embedding', { output: '1' }],
    ['reranker', { perMinute: '1' }],
    ['image', { input: '1', perMinute: '1' }],
    ['speech', { perImage: '1' }],
    ['transcription', { output: '1' }],
  ])('rejects %s models without the prices that they are billed by: %j', (kind, prices) =>
    expect(() => priced(kind, prices)).toThrow(`${kind} models need the prices`),
  );

  it.each([
    ['chat', { input: '0', output: 1 }],
    ['embedding', { input: '1' }],
    ['reranker', { input: '1' }],
    ['image', { perImage: '1' }],
    ['speech', { input: '1', output: '2' }],
    ['transcription', { perMinute: '1' }],
  ])('takes %s models with the prices that they are billed by: %j', (kind, prices) =>
    expect(priced(kind, prices).models.get('a')?.pricing).toMatchObject(
      Object.fromEntries(Object.entries(prices).map(([name, price]) => [name, String(price)])),
    ),
  );

  it.each([
    [0.0000001, '0.0000001'],
    [2.5e-11, '0.000000000025'],
    [0.1, '0.1'],
    [100, '100'],
    ['0.10', '0.10'],
  ])('takes the price %s for what it says', (input, text) =>
    expect(priced('embedding', { input }).models.get('a')?.pricing).toMatchObject({ input: text }),
  );
  it.each([1e-13, 1.0000000000001, 1e10, '1e-7'])('rejects the price %s', (input) =>
    expect(() => priced('embedding', { input })).toThrow(
      'pricing.input: must be a decimal number of at most 12 decimals',
    ),
  );

  it.each([
    ['no JSON or YAML', '{', /cannot be read/],
    ['an unknown field', '{ "model": [] }', /model/],
    [
      'a model without pricing',
      `{ ${provider}, "models": [{ "key": "a", "provider": "acme", "kind": "chat" }] }`,
      /pricing/,
    ],
    [
      'an unknown provider',
      '{ "models": [{ "key": "a", "provider": "acme", "kind": "chat", "pricing": "free" }] }',
      /unknown provider acme/,
    ],
    ...['constructor', 'toString', '__proto__'].map((name): [string, string, RegExp] => [
      `a provider that is only called ${name}`,
      `{ "models": [{ "key": "a", "provider": "${name}", "kind": "chat", "pricing": "free" }] }`,
      new RegExp(`unknown provider ${name}`),
    ]),
    [
      'a provider that cannot be called so',
      `{ "providers": { "__proto__": { "kind": "openai", "baseUrl": "http://127.0.0.1:1/v1" } }, "models": [{ "key": "a", "provider": "__proto__", "kind": "chat", "pricing": "free" }] }`,
      /unknown provider __proto__/,
    ],
    [
      'another currency',
      `{ ${provider}, "models": [{ "key": "a", "provider": "acme", "kind": "chat", "pricing": { "currency": "EUR", "input": "1", "output": "1" } }] }`,
      /priced in EUR/,
    ],
    ['a default that is no chat model', '{ "defaultModel": "local-embedding" }', /local-embedding is not a chat model/],
    [
      'a model twice',
      `{ ${provider}, "models": [{ "key": "local-chat", "provider": "acme", "kind": "chat", "pricing": "free" }] }`,
      /local-chat is listed twice/,
    ],
    [
      'a provider in place of the local one',
      '{ "providers": { "local": { "kind": "openai", "baseUrl": "http://127.0.0.1:1/v1" } } }',
      /local is built in/,
    ],
  ])('rejects %s with a sentence', (_, content, sentence) => expect(() => read(content)).toThrow(sentence));
});
