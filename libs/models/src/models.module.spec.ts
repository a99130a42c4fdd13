import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Module } from '@nestjs/common';
import { openContext } from '../../../test/fixtures/context';
import { Models } from './models';
import { ModelsModule } from './models.module';

/** The fixture of contexts imports the models of the instance for all. */
@Module({})
class Nothing {}

const folder = mkdtempSync(join(tmpdir(), 'models-module-'));
afterAll(() => rmSync(folder, { recursive: true }));

const modelsFile = (apiKeyEnv: string): string => {
  const file = join(folder, `${apiKeyEnv}.json`);
  const providers = { acme: { kind: 'openai', baseUrl: 'http://127.0.0.1:1/v1', apiKeyEnv } };
  const models = [
    { key: 'large', provider: 'acme', kind: 'chat', pricing: { currency: 'USD', input: '1', output: '1' } },
  ];
  writeFileSync(file, JSON.stringify({ providers, models, defaultModel: 'large' }));
  return file;
};

describe('the module of models', () => {
  it('declares its aggregates', () =>
    expect(ModelsModule.aggregates.map(({ category }) => category)).toEqual(['model', 'modelList']));

  it('opens the catalogue that the configuration names, with the keys of the environment', async () => {
    const context = await openContext(Nothing, [], { MODELS_FILE: modelsFile('ACME_KEY'), ACME_KEY: 'secret' });
    const models = context.module.get(Models, { strict: false });
    expect(models.catalogue.defaultModel).toBe('large');
    expect(models.chat(null).model.provider).toBe('acme');
    expect(models.providerStatus()).toEqual([{ name: 'acme', circuit: 'closed' }]);
    await context.close();
  });

  it('stops the start where the environment lacks a key', () =>
    expect(openContext(Nothing, [], { MODELS_FILE: modelsFile('MISSING_KEY') })).rejects.toThrow('Set MISSING_KEY'));
});
