import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Evaluation } from '../../apps/operator/src/evaluate/evaluation';

const ROOT = join(__dirname, '../..');
const run = (...args: readonly string[]) =>
  spawnSync(process.execPath, ['--require', './test/register.cjs', 'apps/operator/src/evaluate.ts', ...args], {
    cwd: ROOT,
    encoding: 'utf8',
  });

test.each([
  ['English, in the form of BEIR', 'english', 64, 44],
  ['German, in the form of TREC', 'german', 24, 16],
])('the command measures a collection: %s', (_, folder, documents, queries) => {
  const { status, stdout, stderr } = run(join('test/fixtures/judged', folder), '--json');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const { results, ...about } = JSON.parse(stdout) as Evaluation;
  expect(about).toMatchObject({ documents, queries, embeddingModel: 'local-embedding' });
  expect(Object.keys(results)).toEqual(['text', 'vector', 'hybrid', 'hybrid + rerank']);
  // Far from chance, and vectors never make it worse: not even in a language that the bundled model does not know.
  expect(results.text['nDCG@10']).toBeGreaterThan(0.7);
  expect(results.hybrid['nDCG@10']).toBeGreaterThanOrEqual(results.text['nDCG@10']);
  expect(results.hybrid['recall@100']).toBe(1);
});

test('the command prints a table for people, and says what is wrong of anything else', () => {
  const { stdout } = run('test/fixtures/judged/german');
  expect(stdout).toMatch(
    /^24 documents \(24 passages\), 16 judged queries; .+\n\n +nDCG@10 +recall@100 +MRR\ntext +0\.\d{4}/,
  );
  expect(run('docs')).toMatchObject({
    status: 2,
    stdout: '',
    stderr: expect.stringMatching(/^docs is no test collection\. .+\n$/),
  });
  expect(run()).toMatchObject({ status: 2 });
});
