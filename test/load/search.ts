import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import Database from 'better-sqlite3';
import { load } from 'sqlite-vec';
import { openSqliteSearchIndex, type SearchIndex, type SearchQuery } from '@app/search-index';

/**
 * Search over passages with vectors in several scopes: through the search index, and by the bare full-text and vector queries
 * that it needs at least. Prints latencies, their ratio, and the lag of the main loop while searches run.
 */

const PASSAGES = Number(process.env['PASSAGES'] ?? 20_000);
const QUERIES = Number(process.env['QUERIES'] ?? 500);
const SCOPES = 20;
const DIMENSIONS = 512;
const PER_DOCUMENT = 20;
const WORDS = 120;

/** A repeatable stream of numbers from 0 to 1 (mulberry32). */
const random = (seed: number) => (): number => {
  seed = (seed + 0x6d2b79f5) | 0;
  const mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  const again = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((again ^ (again >>> 14)) >>> 0) / 2 ** 32;
};
const next = random(Number(process.env['SEED'] ?? 1));
/** Words as a language has them without its stop words: some are frequent, most are rare. */
const word = (): string => `${Math.floor(100 * 200 ** next()).toString(26)}7`;
const text = (words: number): string => Array.from({ length: words }, word).join(' ');
const vector = (): number[] => {
  const values = Array.from({ length: DIMENSIONS }, () => next() - 0.5);
  const length = Math.hypot(...values);
  return values.map((value) => value / length);
};

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;
const latencies = async (
  queries: readonly SearchQuery[],
  search: (query: SearchQuery) => unknown,
): Promise<readonly number[]> => {
  const took: number[] = [];
  for (const query of queries) {
    const started = performance.now();
    await search(query);
    took.push(performance.now() - started);
  }
  return took;
};

const fill = async (index: SearchIndex): Promise<void> => {
  await index.prepare('passages', 1);
  await index.swap('passages', undefined, 1);
  for (let document = 0; document * PER_DOCUMENT < PASSAGES; document += 1) {
    const passages = Array.from({ length: PER_DOCUMENT }, (_, ordinal) => {
      const passage = text(WORDS * (0.5 + next()));
      return {
        chunkId: `c${document}-${ordinal}`,
        ordinal,
        text: passage,
        headings: [],
        start: 0,
        end: passage.length,
        enabled: true,
        vector: vector(),
      };
    });
    const indexed = {
      documentId: `d${document}`,
      name: `Document ${document}`,
      scope: `s:${document % SCOPES}`,
      tagIds: [],
      revision: 1,
      embeddingModel: 'bench',
      passages,
    };
    const position = String(document).padStart(9, '0');
    await index.apply({
      index: 'passages',
      version: 1,
      from: document === 0 ? null : String(document - 1).padStart(9, '0'),
      to: { position, handled: document + 1 },
      fence: 1,
      changes: [{ position, operations: [{ op: 'putDocument', document: indexed }] }],
    });
  }
};

/** The least that an answer needs: ranked rows of both legs, without fusion, texts or highlights. */
const bare = (file: string): ((query: SearchQuery) => void) => {
  const db = new Database(file, { readonly: true });
  load(db);
  const scopeId = db.prepare('select id from scopes where scope = ?').pluck();
  const byText = db
    .prepare(`select rowid from terms where terms match ? and rank match 'bm25(1.0, 0.0)' order by rank limit 50`)
    .pluck();
  const byVector = db.prepare('select rowid from vectors_1 where embedding match ? and k = 50 and scope = ?').pluck();
  return ({ scopes, text: words, mode, vector: given }) => {
    const ids = scopes.map((scope) => scopeId.get(scope) as number);
    byText.all(`scope : (${ids.map((id) => `scope${id}`).join(' OR ')}) AND body : (${words.split(' ').join(' OR ')})`);
    if (mode === 'hybrid') for (const id of ids) byVector.all(new Float32Array(given?.values ?? []), BigInt(id));
  };
};

const main = async (): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const index = await openSqliteSearchIndex({ folder });
  const filling = performance.now();
  await fill(index);
  console.log(
    `${PASSAGES} passages of some ${WORDS} words with ${DIMENSIONS} dimensions in ${SCOPES} scopes, filled at ${Math.round(PASSAGES / ((performance.now() - filling) / 1_000)).toLocaleString('en')}/s`,
  );
  const query = (mode: SearchQuery['mode']): SearchQuery => ({
    scopes: [`s:${Math.floor(next() * SCOPES)}`, `s:${Math.floor(next() * SCOPES)}`],
    text: text(4),
    vector: { model: 'bench', values: vector() },
    mode,
    limit: 8,
  });
  const search = bare(join(folder, 'passages-v1.sqlite'));
  for (const mode of ['text', 'hybrid'] as const) {
    const queries = Array.from({ length: QUERIES }, () => query(mode));
    const base = await latencies(queries, search);
    const lag = monitorEventLoopDelay({ resolution: 1 });
    lag.enable();
    const own = await latencies(queries, (asked) => index.search('passages', asked));
    lag.disable();
    const figures = (values: readonly number[]): string =>
      `p50 ${percentile(values, 0.5).toFixed(2)} ms, p95 ${percentile(values, 0.95).toFixed(2)} ms`;
    console.log(`  ${mode.padEnd(7)} bare queries  ${figures(base)}`);
    console.log(
      `  ${mode.padEnd(7)} search index  ${figures(own)}, ratio of p50 ${(percentile(base, 0.5) / percentile(own, 0.5)).toFixed(2)}; main loop lag p99 ${(lag.percentile(99) / 1e6).toFixed(1)} ms, most ${(lag.max / 1e6).toFixed(1)} ms`,
    );
  }
  await index.close();
  rmSync(folder, { recursive: true });
};

void main();
