import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Evaluation } from '../../apps/operator/src/evaluate/evaluation';

const WAYS = ['text', 'vector', 'hybrid', 'hybrid + rerank'];
const ROOT = join(__dirname, '../..');
const run = (...args: readonly string[]) =>
  spawnSync(process.execPath, ['--require', './test/register.cjs', 'apps/operator/src/evaluate.ts', ...args], {
    cwd: ROOT,
    encoding: 'utf8',
  });

test('the command measures a collection in the form of BEIR, in English', () => {
  const { status, stdout, stderr } = run('test/fixtures/judged/english', '--json');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const { results, ...about } = JSON.parse(stdout) as Evaluation;
  expect(about).toMatchObject({ documents: 64, queries: 44, embeddingModel: 'local-embedding' });
  expect(Object.keys(results)).toEqual(WAYS);
  // Far from chance, and vectors never make it worse.
  expect(results.text['nDCG@10']).toBeGreaterThan(0.7);
  expect(results.hybrid['nDCG@10']).toBeGreaterThanOrEqual(results.text['nDCG@10']);
  expect(results.hybrid['recall@100']).toBe(1);
});

test('the command measures a collection in the form of TREC, in German, and prints a table for people', () => {
  const { status, stdout, stderr } = run('test/fixtures/judged/german');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const [about, empty, heading, ...rows] = stdout.trimEnd().split('\n');
  expect(about).toMatch(
    /^24 documents \(24 passages\), 16 judged queries; embedding model local-embedding, reranker \S.*$/,
  );
  expect([empty, heading]).toEqual(['', expect.stringMatching(/^ +nDCG@10 +recall@100 +MRR$/)]);
  const figures = rows.map((row) => /^(\w+(?: \+ \w+)?) +([01]\.\d{4}) +([01]\.\d{4}) +([01]\.\d{4})$/.exec(row) ?? []);
  expect(figures.map(([, way]) => way)).toEqual(WAYS);
  const [text, , hybrid] = figures.map(([, , ndcg, recall]) => ({ ndcg: Number(ndcg), recall: Number(recall) }));
  // Not even in a language that the bundled model does not know.
  expect(text?.ndcg).toBeGreaterThan(0.7);
  expect(hybrid?.ndcg).toBeGreaterThanOrEqual(text?.ndcg ?? 1);
  expect(hybrid?.recall).toBe(1);
});

test('the command says what is wrong of anything else', () => {
  expect(run('docs')).toMatchObject({
    status: 2,
    stdout: '',
    stderr: expect.stringMatching(/^docs is no test collection\. .+\n$/),
  });
  expect(run()).toMatchObject({ status: 2 });
});
