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
    expect(defaults).toMatchObject({ defaultModel: 'local-chat', embeddingModel: 'local-embedding', rerankerModel: 'local-reranker' });
  });

  it('reads the documented example', () => {
    const catalogue = readCatalogue(join(__dirname, '../../../config/models.json'), 'USD');
    expect(catalogue.models.get(catalogue.defaultModel)?.kind).toBe('chat');
  });

  it('reads YAML, and takes the key as the model id and display name', () => {
    const { models } = read('defaultModel: big\nproviders: { acme: { kind: openai, baseUrl: "http://127.0.0.1:1/v1" } }\nmodels:\n  - { key: big, provider: acme, kind: chat, pricing: free }\n');
    expect(models.get('big')).toMatchObject({ modelId: 'big', displayName: 'big', pricing: 'free' });
  });

  const priced = (kind: string, prices: object) => read(`{ ${provider}, "models": [{ "key": "a", "provider": "acme", "kind": "${kind}", "pricing": ${JSON.stringify({ currency: 'USD', ...prices })} }] }`);

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
  ])('refuses %s models without the prices that they are billed by: %j', (kind, prices) => expect(() => priced(kind, prices)).toThrow(`${kind} models need the prices`));

  it.each([
    ['chat', { input: '0', output: 1 }],
    ['embedding', { input: '1' }],
    ['reranker', { input: '1' }],
    ['image', { perImage: '1' }],
    ['speech', { input: '1', output: '2' }],
    ['transcription', { perMinute: '1' }],
  ])('takes %s models with the prices that they are billed by: %j', (kind, prices) => expect(priced(kind, prices).models.get('a')?.pricing).toMatchObject(Object.fromEntries(Object.entries(prices).map(([name, price]) => [name, String(price)]))));

  it.each([
    ['no JSON or YAML', '{', /cannot be read/],
    ['an unknown field', '{ "model": [] }', /model/],
    ['a model without pricing', `{ ${provider}, "models": [{ "key": "a", "provider": "acme", "kind": "chat" }] }`, /pricing/],
    ['an unknown provider', '{ "models": [{ "key": "a", "provider": "acme", "kind": "chat", "pricing": "free" }] }', /unknown provider acme/],
    ...['constructor', 'toString', '__proto__'].map((name): [string, string, RegExp] => [`a provider that is only called ${name}`, `{ "models": [{ "key": "a", "provider": "${name}", "kind": "chat", "pricing": "free" }] }`, new RegExp(`unknown provider ${name}`)]),
    ['another currency', `{ ${provider}, "models": [{ "key": "a", "provider": "acme", "kind": "chat", "pricing": { "currency": "EUR", "input": "1", "output": "1" } }] }`, /priced in EUR/],
    ['a default that is no chat model', '{ "defaultModel": "local-embedding" }', /local-embedding is not a chat model/],
    ['a model twice', `{ ${provider}, "models": [{ "key": "local-chat", "provider": "acme", "kind": "chat", "pricing": "free" }] }`, /local-chat is there twice/],
    ['a provider in place of the local one', '{ "providers": { "local": { "kind": "openai", "baseUrl": "http://127.0.0.1:1/v1" } } }', /local is built in/],
  ])('refuses %s with a sentence', (_, content, sentence) => expect(() => read(content)).toThrow(sentence));
});
