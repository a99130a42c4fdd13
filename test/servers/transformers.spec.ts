import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  embedded,
  transformersContract,
  transformersInstances,
} from '../../libs/models/src/transformers/transformers.contract';
import { DIMENSIONS, sentenceTransformer } from '../fixtures/sentence-transformer';
import { installTransformers } from './transformers-package';

const folder = mkdtempSync(join(tmpdir(), 'transformers-package-'));
beforeAll(() => installTransformers(folder), 310_000);
afterAll(() => rmSync(folder, { recursive: true }));

describe('a provider of the kind transformers, with the package', () => {
  transformersContract(() => folder);
});

describe('a hub', () => {
  const instances = transformersInstances(() => folder);
  const files = sentenceTransformer({ pooling: ['cls_token'] });
  const asked: string[] = [];
  let server: Server;
  let hub: string;
  beforeAll(async () => {
    server = createServer(({ url = '' }, response) => {
      asked.push(url);
      const content = files.get(url.replace('/acme/small/resolve/main/', ''));
      response.writeHead(content === undefined ? 404 : 200).end(content);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    hub = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });
  afterAll(async () => {
    await instances.close();
    await new Promise((resolve) => server.close(resolve));
  });

  it('is asked for a model once, and not where the provider names none', async () => {
    const given = { modelId: 'acme/small', description: { dimensions: DIMENSIONS } };
    expect(() => instances.open(given)).toThrow('there is no folder');
    expect(asked).toEqual([]);
    const vectors = [];
    for (const start of [1, 2]) {
      const models = instances.open({ ...given, provider: { hub } });
      await models.verify();
      vectors.push(await embedded(models, ['pear']));
      await models.close();
      if (start === 1) expect(asked.splice(0)).toContain('/acme/small/resolve/main/onnx/model.onnx');
    }
    expect(asked).toEqual([]);
    expect(vectors[1]).toEqual(vectors[0]);
  });

  it('stops the start where it does not have the model', async () => {
    const models = instances.open({ modelId: 'acme/unknown', provider: { hub } });
    await expect(models.verify()).rejects.toThrow(
      /^The model small in MODELS_FILE cannot run: .*config\.json answers 404/,
    );
    await models.close();
  });
});
