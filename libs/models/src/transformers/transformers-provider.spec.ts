import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openContext } from '../../../../test/fixtures/context';
import { installDouble, sentenceTransformer, writeFiles } from '../../../../test/fixtures/sentence-transformer';
import { Module } from '@nestjs/common';
import { readCatalogue } from '../catalogue';
import { embedded, transformersContract, transformersInstances } from './transformers.contract';

const folder = mkdtempSync(join(tmpdir(), 'transformers-double-'));
beforeAll(() => installDouble(folder));
afterAll(() => rmSync(folder, { recursive: true }));

@Module({})
class Nothing {}

describe('a provider of the kind transformers, with a package that stands for the real one', () => {
  transformersContract(() => folder);
});

describe('a provider of the kind transformers', () => {
  const instances = transformersInstances(() => folder);
  afterAll(() => instances.close());
  const pooling = (...modes: string[]) => ({ pooling: modes });

  it.each([
    [
      'no folder',
      { modelId: '/nowhere/model' },
      'there is no folder /nowhere/model. Name the folder in `modelId`, or a `hub`',
    ],
    [
      'what no hub has',
      { modelId: '../model', provider: { hub: 'http://127.0.0.1:1' } },
      'is neither a folder nor the id',
    ],
    ['a folder without a tokenizer', { without: 'tokenizer.json' }, 'has no tokenizer.json'],
    ['a folder without a model', { without: 'onnx/model.onnx' }, 'has no onnx/model.onnx. Export the model'],
    [
      'other dimensions',
      { description: { dimensions: 384 } },
      'its vectors have 4 dimensions, not 384. Write "dimensions": 4',
    ],
    ['another pooling', pooling('lasttoken'), 'its pooling pooling_mode_lasttoken is not supported'],
    [
      'two poolings',
      pooling('mean_tokens', 'max_tokens'),
      'pooling_mode_mean_tokens with pooling_mode_max_tokens is not',
    ],
    [
      'another module',
      { modules: [{ path: '2_Dense', type: 'sentence_transformers.models.Dense' }] },
      'its module Dense',
    ],
    ['a module elsewhere', { modules: [{ path: '../x', type: 'a.Pooling' }] }, 'outside its folder'],
  ])('stops the start for %s, with what to do', (_, given, sentence) => {
    const start = () => instances.open(given);
    expect(start).toThrow(expect.objectContaining({ name: 'InvalidConfig' }));
    expect(start).toThrow('The model small in MODELS_FILE cannot run: ');
    expect(start).toThrow(sentence);
  });

  it('stops the start where the package is not installed, and says how to install it', () => {
    const start = () => instances.open({}, tmpdir());
    expect(start).toThrow(
      /^The model small in MODELS_FILE cannot run: the package @huggingface\/transformers is not installed. Run npm install /,
    );
    const { peerDependencies, peerDependenciesMeta } = JSON.parse(
      readFileSync(join(__dirname, '../../../../package.json'), 'utf8'),
    ) as Readonly<Record<string, unknown>>;
    expect([peerDependencies, peerDependenciesMeta]).toEqual([
      { '@huggingface/transformers': '^4.3.1' },
      { '@huggingface/transformers': { optional: true } },
    ]);
  });

  it('stops the start of the product', () =>
    expect(openContext(Nothing, [], { MODELS_FILE: fileWith({ modelId: '/nowhere/model' }) })).rejects.toMatchObject({
      name: 'InvalidConfig',
    }));

  it('keeps its process when the catalogue is read again, unless the model is another', async () => {
    const models = instances.open();
    const { provider } = models.embedding();
    models.reload();
    expect(models.embedding().provider).toBe(provider);
    instances.rewrite({ modelId: writeFiles(join(folder, 'other'), sentenceTransformer()) });
    models.reload();
    expect(models.embedding().provider).not.toBe(provider);
    expect(await embedded(models, ['pear'])).toHaveLength(1);
    await models.close();
  });

  const content = (model: object, more: object = {}) => ({
    providers: { here: { kind: 'transformers' } },
    models: [{ key: 'small', provider: 'here', kind: 'embedding', pricing: 'free', ...model }],
    embeddingModel: 'small',
    ...more,
  });
  const fileOf = () => join(instances.folder, 'models-reload.json');
  const fileWith = (model: object, more: object = {}): string => {
    writeFileSync(fileOf(), JSON.stringify(content(model, more)));
    return fileOf();
  };

  it.each([
    ['a model of another kind', { kind: 'chat' }, {}, 'the provider here runs embedding models only'],
    ['a fallback', { fallback: 'local-embedding' }, {}, 'cannot have the fallback local-embedding'],
    [
      'an unknown field',
      {},
      { providers: { here: { kind: 'transformers', baseUrl: 'http://x' } } },
      'has an unknown field: baseUrl',
    ],
    ['an unknown kind', {}, { providers: { here: { kind: 'torch' } } }, 'providers.here.kind: '],
  ])('is rejected with %s', (_, model, more, sentence) =>
    expect(() => readCatalogue(fileWith(model, more), 'USD')).toThrow(sentence),
  );
});
