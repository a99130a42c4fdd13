import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@elastic/elasticsearch';
import { readCollection } from '../../apps/operator/src/evaluate/collection';
import { evaluate, type Evaluation } from '../../apps/operator/src/evaluate/evaluation';
import { meansOf } from '../../apps/operator/src/evaluate/metrics';
import { installTransformers } from './transformers-package';
import { withServer } from './with-server';

const ROOT = join(__dirname, '../..');
const ENGLISH = join(ROOT, 'test/fixtures/judged/english');

/** Whole documents by Lucene's BM25 with its English analysis, any word of the query: what search engines give without further work. */
const byLucene = async (node: string, collection: ReturnType<typeof readCollection>) => {
  const client = new Client({ node });
  const index = `quality-${randomUUID()}`;
  const analyzed = { type: 'text', analyzer: 'english' } as const;
  await client.indices.create({
    index,
    settings: { number_of_shards: 1, number_of_replicas: 0 },
    mappings: { properties: { text: analyzed } },
  });
  try {
    await client.bulk({
      refresh: true,
      operations: collection.documents.flatMap(({ id, title, text }) => [
        { index: { _index: index, _id: id } },
        { text: `${title}\n${text}` },
      ]),
    });
    const rankings = [];
    for (const { text, relevant } of collection.queries) {
      const { hits } = await client.search({ index, size: 100, query: { match: { text } }, _source: false });
      rankings.push({ ranking: hits.hits.map(({ _id = '' }) => _id), relevant });
    }
    return meansOf(rankings);
  } finally {
    await client.indices.delete({ index });
    await client.close();
  }
};

withServer('ELASTICSEARCH_URL', 'beside Lucene', (url) => {
  it('the embedded engine ranks at least as well: by words 0.97 of it, by both 1.0', async () => {
    const collection = readCollection(ENGLISH);
    const lucene = (await byLucene(url, collection))['nDCG@10'];
    const { text, hybrid } = (await evaluate(collection, {}, () => undefined)).results;
    expect(lucene).toBeGreaterThan(0.5);
    expect(text['nDCG@10'] / lucene).toBeGreaterThanOrEqual(0.97);
    expect(hybrid['nDCG@10'] / lucene).toBeGreaterThanOrEqual(1);
    expect(hybrid['nDCG@10']).toBeGreaterThanOrEqual(text['nDCG@10']);
  });

  withServer('MINILM_FOLDER', 'with all-MiniLM-L6-v2', (modelId) => {
    const folder = mkdtempSync(join(tmpdir(), 'quality-'));
    beforeAll(() => installTransformers(folder), 310_000);
    afterAll(() => rmSync(folder, { recursive: true }));

    it('the embedded engine ranks by both at least 1.1 times as well, at the weight of models that name none', async () => {
      const lucene = (await byLucene(url, readCollection(ENGLISH)))['nDCG@10'];
      const models = join(folder, 'models.json');
      const minilm = { key: 'minilm', modelId, provider: 'here', kind: 'embedding', pricing: 'free', dimensions: 384 };
      const providers = { here: { kind: 'transformers' } };
      writeFileSync(models, JSON.stringify({ embeddingModel: 'minilm', providers, models: [minilm] }));
      const command = ['--require', './test/register.cjs', 'apps/operator/src/evaluate.ts', ENGLISH, '--json'];
      const environment = { ...process.env, MODELS_FILE: models, NODE_PATH: join(folder, 'node_modules') };
      const printed = execFileSync(process.execPath, command, { cwd: ROOT, env: environment, encoding: 'utf8' });
      const { embeddingModel, results } = JSON.parse(printed) as Evaluation;
      expect(embeddingModel).toBe('minilm');
      expect(results.hybrid['nDCG@10'] / lucene).toBeGreaterThanOrEqual(1.1);
    });
  });
});
