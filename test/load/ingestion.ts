import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { embeddedText, passagesOf, readDocument } from '@app/knowledge';
import { Models } from '@app/models';
import { openSqliteSearchIndex, type Passage } from '@app/search-index';
import { CORE, idOf, words } from './mixed-work';
import { ask, startProduct } from './product';
import { percentile } from './rate';

/**
 * Ingestion of plain text by the built product beside the same steps (cut, embed, index) in a bare loop of this process, how long
 * 1 MB of text takes, and the reads of others while 500 documents are ingested. Needs `npm run build`.
 */

const DOCUMENTS = Number(process.env['DOCUMENTS'] ?? 60);
const WORDS = 1_000;
const IN_CALL = 16;
const MANY = Number(process.env['MANY'] ?? 500);
const READS_MS = 10_000;

/** Sentences of 12 words, paragraphs of five of them. */
const prose = (count: number): string => {
  const sentences = Array.from({ length: Math.ceil(count / 12) }, () => `${words(12)}.`);
  return sentences.map((sentence, index) => sentence + (index % 5 === 4 ? '\n\n' : ' ')).join('');
};

/** Documents a second in a loop of the steps, one document after the other. */
const bare = async (texts: readonly string[]): Promise<number> => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const models = Models.open({ DATA_DIR: folder, DEFAULT_CURRENCY: 'USD', MODELS_FILE: undefined }, {});
  const index = await openSqliteSearchIndex({ folder });
  await index.prepare('passages', 1);
  await index.swap('passages', undefined, 1);
  const { model, provider } = models.embedding();
  const signal = new AbortController().signal;
  const embed = async (of: readonly string[]) =>
    (await provider.embed({ model, texts: of, purpose: 'passage', signal })).vectors as readonly Float32Array[];
  await embed(['The model starts.']);
  const started = performance.now();
  for (const [at, text] of texts.entries()) {
    const file = { name: 'Text', mimeType: 'text/plain', body: Buffer.from(text) };
    const cut = await passagesOf(`d${at}`, readDocument({ file }, null));
    const passages: Passage[] = [];
    for (let from = 0; from < cut.length; from += IN_CALL) {
      const batch = cut.slice(from, from + IN_CALL);
      const vectors = await embed(batch.map((passage) => embeddedText('Text', passage)));
      for (const [place, passage] of batch.entries())
        passages.push({ ...passage, vector: vectors[place] as Float32Array });
    }
    const document = { documentId: `d${at}`, name: 'Text', scope: 'g', tagIds: [], revision: 1, passages };
    const position = String(at).padStart(9, '0');
    await index.apply({
      index: 'passages',
      version: 1,
      from: at === 0 ? null : String(at - 1).padStart(9, '0'),
      to: { position, handled: at + 1 },
      fence: 1,
      changes: [
        { position, operations: [{ op: 'putDocument', document: { ...document, embeddingModel: model.key } }] },
      ],
    });
  }
  const rate = texts.length / ((performance.now() - started) / 1_000);
  await models.close();
  await index.close();
  rmSync(folder, { recursive: true });
  return rate;
};

const main = async (): Promise<void> => {
  const texts = Array.from({ length: DOCUMENTS }, () => prose(WORDS));
  const loop = await bare(texts);

  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const product = await startProduct(folder);
  const call = (method: string, path: string, body?: object) => ask(product, method, CORE + path, body);
  const newAgent = async () => idOf(await call('POST', '/agents', { name: 'Bench', model: 'local-chat' }));
  /** Seconds until all texts are Ready in an Agent of their own. */
  const ingested = async (contents: readonly string[]): Promise<number> => {
    const path = `/knowledge/${await newAgent()}/documents`;
    const started = performance.now();
    for (const [at, content] of contents.entries())
      await call('POST', path, { name: `Text ${at}`, content, mimeType: 'text/plain' });
    const waiting = async (status: string): Promise<boolean> =>
      (JSON.parse(await call('GET', `${path}?status=${status}&limit=1`)) as { items: unknown[] }).items.length > 0;
    while ((await waiting('Pending')) || (await waiting('Processing'))) await pause(20);
    const seconds = (performance.now() - started) / 1_000;
    if (await waiting('Failed')) throw new Error('a document failed');
    return seconds;
  };
  /** p99 of reading an Agent 50 times a second, for so long as `work` runs. */
  const reads = async (work: Promise<unknown>): Promise<number> => {
    const agent = await newAgent();
    const took: number[] = [];
    let ended = false;
    void work.finally(() => (ended = true));
    while (!ended) {
      const started = performance.now();
      await call('GET', `/agents/${agent}`);
      took.push(performance.now() - started);
      await pause(20);
    }
    await work;
    return percentile(took, 0.99);
  };
  try {
    await ingested(['The model starts.']);
    const rate = DOCUMENTS / (await ingested(texts));
    console.log(
      `${DOCUMENTS} texts of ${WORDS} words: ${rate.toFixed(2)} documents/s, bare loop ${loop.toFixed(2)}/s, ratio ${(rate / loop).toFixed(2)} (target 0.80)`,
    );
    const megabyte = prose(200_000).slice(0, 1_000_000);
    console.log(`1 MB of text: Ready after ${(await ingested([megabyte])).toFixed(1)} s (target 10 s)`);
    const idle = await reads(pause(READS_MS));
    const busy = await reads(ingested(Array.from({ length: MANY }, () => prose(200))));
    console.log(
      `p99 of reads: ${idle.toFixed(1)} ms, while ${MANY} documents are ingested ${busy.toFixed(1)} ms, ratio ${(busy / idle).toFixed(2)} (target 2)`,
    );
  } finally {
    await product.stop();
    rmSync(folder, { recursive: true });
  }
};

void main();
