import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import Database from 'better-sqlite3';
import { load } from 'sqlite-vec';
import { openSqliteSearchIndex, type SearchIndex, type SearchQuery } from '@app/search-index';
import { percentile } from './rate';

/**
 * Search over passages with vectors in tenants of different sizes, with and without a tag: through the search index, and by the bare
 * full-text and vector queries that it needs at least. Prints latencies, their ratio, and the lag of the main loop while searches run.
 */

const PASSAGES = Number(process.env['PASSAGES'] ?? 100_000);
const QUERIES = Number(process.env['QUERIES'] ?? 100);
/** Filled once, and kept: for another measurement. A temporary one where it is not named. */
const FOLDER = process.env['FOLDER'];
/** Shares of the passages: the rest is spread over tenants of two per cent. */
const TENANTS = { half: 0.5, tenth: 0.1, 'two per cent': 0.02, thousandth: 0.001 } as const;
const DIMENSIONS = 512;
const PER_DOCUMENT = 20;
const WORDS = 120;
/** Ids of the bare rows of a scope. */
const ROWS_OF_SCOPE = 2 ** 30;

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

/** Documents of a size come at regular distances; each other one has the tag. */
const scopeOf = (document: number, documents: number): string => {
  const place = ((document * 7_919) % documents) / documents;
  let end = 0;
  for (const [tenant, share] of Object.entries(TENANTS)) if (place < (end += share)) return `s:${tenant}`;
  return `s:${Math.floor((place - end) / 0.02)}`;
};

const fill = async (index: SearchIndex, folder: string): Promise<void> => {
  const bareFile = openBare(folder);
  bareFile.exec(`
    create virtual table vectors using vec0(scope text partition key, embedding float[${DIMENSIONS}] distance_metric=cosine, chunk_size=128);
    create virtual table terms using fts5(body);
    create table scopes(id integer primary key, scope text not null unique, passages integer not null default 0)`);
  const putVector = bareFile.prepare('insert into vectors(scope, embedding) values (?, ?)');
  const putScope = bareFile.prepare('insert into scopes(scope) values (?) on conflict do nothing');
  const count = bareFile
    .prepare('update scopes set passages = passages + 1 where scope = ? returning id * ? + passages')
    .pluck();
  const putText = bareFile.prepare('insert into terms(rowid, body) values (?, ?)');
  await index.prepare('passages', 1);
  await index.swap('passages', undefined, 1);
  const documents = Math.ceil(PASSAGES / PER_DOCUMENT);
  for (let document = 0; document < documents; document += 1) {
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
    bareFile.transaction(() => {
      const scope = scopeOf(document, documents);
      putScope.run(scope);
      for (const { text: words, vector: values } of passages) {
        putVector.run(scope, new Float32Array(values));
        putText.run(count.get(scope, ROWS_OF_SCOPE), words);
      }
    })();
    const indexed = {
      documentId: `d${document}`,
      name: `Document ${document}`,
      scope: scopeOf(document, documents),
      tagIds: [next() < 0.5 ? 'tagged' : 'other'],
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
  bareFile.close();
};

/** The same texts in a table of FTS5, the rows of a scope one after the other, and the same vectors in one of sqlite-vec, which the bare queries search. */
const openBare = (folder: string): Database.Database => {
  const db = new Database(join(folder, 'bare.sqlite'));
  db.pragma('journal_mode = WAL');
  load(db);
  return db;
};

/** The least that an answer needs: ranked rows of both rankings in the scope, without tags, documents, fusion or texts. */
const bare = (folder: string): ((query: SearchQuery) => void) => {
  const db = openBare(folder);
  const scopeId = db.prepare('select id from scopes where scope = ?').pluck();
  const byText = db.prepare(
    `select rowid, bm25(terms) as value from terms where terms match ? and rowid between ? and ? order by value limit 50`,
  );
  const byVector = db.prepare('select rowid from vectors where embedding match ? and k = 50 and scope = ?').pluck();
  return ({ scopes, text: words, mode, vector: given }) => {
    for (const scope of scopes) {
      const id = scopeId.get(scope) as number;
      byText.all(words.split(' ').join(' OR '), id * ROWS_OF_SCOPE, (id + 1) * ROWS_OF_SCOPE - 1);
      if (mode === 'hybrid') byVector.all(new Float32Array(given?.values ?? []), scope);
    }
  };
};

const figures = (values: readonly number[]): string =>
  `p50 ${percentile(values, 0.5).toFixed(1).padStart(6)} ms, p95 ${percentile(values, 0.95).toFixed(1).padStart(6)} ms`;

const main = async (): Promise<void> => {
  const folder = FOLDER ?? mkdtempSync(join(tmpdir(), 'bench-'));
  const index = await openSqliteSearchIndex({ folder });
  const filling = performance.now();
  if ((await index.live('passages')) === undefined) await fill(index, folder);
  console.log(
    `${PASSAGES} passages of some ${WORDS} words with ${DIMENSIONS} dimensions, filled at ${Math.round(PASSAGES / ((performance.now() - filling) / 1_000)).toLocaleString('en')}/s`,
  );
  const search = bare(folder);
  const lag = monitorEventLoopDelay({ resolution: 1 });
  for (const tenant of Object.keys(TENANTS))
    for (const mode of ['text', 'hybrid'] as const) {
      const queries = Array.from({ length: QUERIES }, (): SearchQuery => ({
        scopes: [`s:${tenant}`],
        text: text(4),
        vector: { model: 'bench', values: vector() },
        mode,
        limit: 32,
      }));
      const base = await latencies(queries, search);
      lag.enable();
      const own = await latencies(queries, (asked) => index.search('passages', asked));
      const tagged = await latencies(queries, (asked) => index.search('passages', { ...asked, tagIds: ['tagged'] }));
      lag.disable();
      const ratio = (values: readonly number[]): string => (percentile(values, 0.5) / percentile(base, 0.5)).toFixed(1);
      console.log(`  ${tenant.padEnd(12)} ${mode.padEnd(6)} bare queries     ${figures(base)}`);
      console.log(`  ${tenant.padEnd(12)} ${mode.padEnd(6)} search index     ${figures(own)}, ${ratio(own)} times`);
      console.log(
        `  ${tenant.padEnd(12)} ${mode.padEnd(6)} with a tag       ${figures(tagged)}, ${ratio(tagged)} times`,
      );
    }
  console.log(`  main loop lag p99 ${(lag.percentile(99) / 1e6).toFixed(1)} ms, most ${(lag.max / 1e6).toFixed(1)} ms`);
  await index.close();
  if (FOLDER === undefined) rmSync(folder, { recursive: true });
};

void main();
