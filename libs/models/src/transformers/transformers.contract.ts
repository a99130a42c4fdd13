import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '@app/kernel';
import {
  type GivenModel,
  sentenceTransformer,
  vectorOf,
  writeFiles,
} from '../../../../test/fixtures/sentence-transformer';
import { Models } from '../models';
import type { EmbeddingRequest, Vector } from '../provider';

type Given = GivenModel & { readonly description?: object; readonly provider?: object; readonly modelId?: string };

/** Opens catalogues whose `embeddingModel` is a sentence-transformer made for tests, run by the package that `packages()` leads to. */
export const transformersInstances = (packages: () => string) => {
  const folder = mkdtempSync(join(tmpdir(), 'transformers-'));
  const opened: Models[] = [];
  let made = 0;
  const file = (): string => join(folder, `models-${made}.json`);
  const write = (given: Given): void => {
    const modelId = given.modelId ?? writeFiles(join(folder, `model-${made}`), sentenceTransformer(given));
    const model = { key: 'small', modelId, provider: 'here', kind: 'embedding', pricing: 'free', ...given.description };
    const providers = { here: { kind: 'transformers', ...given.provider } };
    writeFileSync(file(), JSON.stringify({ embeddingModel: 'small', providers, models: [model] }));
  };
  return {
    folder,
    open: (given: Given = {}, from = packages()): Models => {
      made += 1;
      write(given);
      const models = Models.open(readConfig({ MODELS_FILE: file(), DATA_DIR: folder }), {}, from);
      opened.push(models);
      return models;
    },
    /** Another model in the file that was opened last. */
    rewrite: write,
    close: async (): Promise<void> => {
      await Promise.all(opened.map((models) => models.close()));
      rmSync(folder, { recursive: true });
    },
  };
};

/** Vectors of the texts by the configured model. */
export const embedded = async (
  models: Models,
  texts: readonly string[],
  purpose?: EmbeddingRequest['purpose'],
): Promise<readonly Vector[]> => {
  const { model, provider } = models.embedding();
  const signal = AbortSignal.timeout(30_000);
  return (await provider.embed({ model, texts, signal, ...(purpose === undefined ? {} : { purpose }) })).vectors;
};

const TOKENS = ['[CLS]', 'apple', 'pear', '[SEP]'];
const across = (tokens: readonly string[], reduce: (values: number[]) => number): number[] =>
  vectorOf('[CLS]').map((_, index) => reduce(tokens.map((token) => vectorOf(token)[index] as number)));
const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const unitOf = (values: readonly number[]): number[] => values.map((value) => value / Math.hypot(...values));

export const expectNear = (actual: Vector | undefined, expected: readonly number[]): void => {
  expect(actual).toHaveLength(expected.length);
  expected.forEach((value, index) => expect(actual?.[index]).toBeCloseTo(value, 4));
};

/** What holds with the real package, and with the double that stands for it. */
export const transformersContract = (packages: () => string): void => {
  const instances = transformersInstances(packages);
  afterAll(() => instances.close());

  it.each<[string, GivenModel, number[]]>([
    ['the mean', { pooling: ['mean_tokens'] }, across(TOKENS, mean)],
    ['the first token', { pooling: ['cls_token'] }, [...vectorOf('[CLS]')]],
    ['the greatest', { pooling: ['max_tokens'] }, across(TOKENS, (values) => Math.max(...values))],
    ['the mean, where no file says', { pooling: null }, across(TOKENS, mean)],
    ['a vector of length one', { normalize: true }, unitOf(across(TOKENS, mean))],
  ])('gives %s, as the files of the model say, whatever longer text stands beside it', async (_, given, expected) => {
    const models = instances.open(given);
    await models.verify();
    const [vector] = await embedded(models, ['Apple pear', 'wheel engine wheel engine wheel']);
    expectNear(vector, expected);
    await models.close();
  });

  it('puts the prefixes of the description before queries and passages, whose vectors have length one', async () => {
    const models = instances.open({ description: { queryPrefix: 'query: ', passagePrefix: 'passage: ' } });
    for (const purpose of ['query', 'passage'] as const) {
      const [vector] = await embedded(models, ['pear'], purpose);
      expectNear(vector, unitOf(across(['[CLS]', purpose, ':', 'pear', '[SEP]'], mean)));
    }
    await models.close();
  });

  it('embeds many texts, long ones cut to what the model sees, one vector for each in order', async () => {
    const models = instances.open();
    const texts = Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? 'apple' : 'wheel '.repeat(5_000)));
    const vectors = await embedded(models, texts);
    expect(vectors).toHaveLength(50);
    expectNear(vectors[48], across(['[CLS]', 'apple', '[SEP]'], mean));
    expectNear(vectors[49], across(['[CLS]', ...Array<string>(14).fill('wheel'), '[SEP]'], mean));
    await models.close();
  });

  it('does not start with a model whose files are damaged', async () => {
    const folder = writeFiles(join(instances.folder, 'damaged'), sentenceTransformer());
    writeFileSync(join(folder, 'onnx/model.onnx'), 'nonsense');
    const models = instances.open({ modelId: folder });
    await expect(models.verify()).rejects.toMatchObject({
      name: 'InvalidConfig',
      message: expect.stringMatching(/^The model small in MODELS_FILE cannot run: .*Protobuf parsing failed/) as string,
    });
    await models.close();
  });

  it('does not start with a model that gives other dimensions than described, though its files say otherwise', async () => {
    const models = instances.open({ hiddenSize: 8, description: { dimensions: 8 } });
    await expect(models.verify()).rejects.toThrow('its vectors have 4 dimensions, not 8. Write "dimensions": 4');
    await expect(embedded(models, ['pear'])).rejects.toMatchObject({ facts: { code: 'dimensions_mismatch' } });
    await models.close();
  });
};
