import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteReadStore } from '@app/read-store';
import {
  type DocumentFilter,
  type DocumentRow,
  documents,
  ListDocuments,
  ListDocumentsHandler,
} from '@projections/documents';

/**
 * Filtered pages of the documents that an Agent can search, embedded: 10,000 documents, half of them in its Space, while others
 * are changed between the pages. Prints latencies beside those of a page without a filter.
 */

const DOCUMENTS = Number(process.env['DOCUMENTS'] ?? 10_000);
const PAGES = Number(process.env['PAGES'] ?? 40);
const LIMIT = 50;
const AGENT = { agentId: '0199a000-0000-7000-8000-000000000001', spaceId: '0199a000-0000-7000-8000-000000000002' };
const place = (n: number) =>
  n % 2 === 0
    ? ({ scope: 'space', agentId: null, spaceId: AGENT.spaceId, place: `s:${AGENT.spaceId}` } as const)
    : n % 4 === 1
      ? ({ scope: 'agent', ...AGENT, place: `a:${AGENT.agentId}` } as const)
      : ({ scope: 'global', agentId: null, spaceId: null, place: 'g' } as const);
const id = (n: number): string => `0199${String(n).padStart(4, '0')}-0000-7000-8000-${String(n).padStart(12, '0')}`;
/** One document in 1,000 has the rare tag, is Failed, and has a rare name. */
const row = (n: number): DocumentRow => ({
  id: id(n),
  name: `${n % 1_000 === 7 ? 'Quarterly figures' : 'Minutes of meeting'} ${n}.pdf`,
  mimeType: 'application/pdf',
  sizeBytes: 12_345,
  contentHash: 'a'.repeat(64),
  provider: 'upload',
  path: null,
  ...place(n),
  disabled: null,
  status: n % 1_000 === 7 ? 'Failed' : 'Ready',
  failure: null,
  tagIds: [n % 1_000 === 7 ? 'rare' : 'common', 'another'],
  chunkCount: 12,
  tokenCount: 4_000,
  chunking: null,
  embeddingModel: 'local-embedding',
  file: id(n),
  text: id(n),
  passages: id(n),
  indexedRevision: 3,
  createdAt: new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString(),
  lastModified: new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString(),
  revision: 4,
});
const FILTERS: Readonly<Record<string, DocumentFilter>> = {
  'no filter': {},
  'a common tag': { tagId: 'common' },
  'a rare tag': { tagId: 'rare' },
  'a tag of none': { tagId: 'none' },
  'a rare state': { status: 'Failed' },
  'a state of none': { status: 'Processing' },
  'one level': { scope: 'global' },
  'a name of many': { q: 'minutes' },
  'a rare name': { q: 'figures' },
  'a name of none': { q: 'xyz' },
  'all of them': { q: 'figures', tagId: 'rare', status: 'Failed', scope: 'space' },
};

const main = async (): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const store = await openSqliteReadStore({ folder: join(folder, 'views') });
  await store.prepare({ name: documents.name, version: 1, indexes: documents.indexes ?? [] });
  await store.swap(documents.name, undefined, 1);
  const position = (n: number): string => String(n).padStart(12, '0');
  let handled = 0;
  const put = async (rows: readonly DocumentRow[]): Promise<void> => {
    const to = { position: position(handled + rows.length), handled: handled + rows.length };
    await store.commit({
      view: documents.name,
      version: 1,
      from: handled === 0 ? null : position(handled),
      to,
      fence: 1,
      changes: rows.map((each, at) => ({
        position: position(handled + at + 1),
        operations: [{ op: 'put', key: each.id, row: each }],
      })),
    });
    handled += rows.length;
  };
  for (let n = 0; n < DOCUMENTS; n += 1_000)
    await put(Array.from({ length: Math.min(1_000, DOCUMENTS - n) }, (_, at) => row(n + at)));
  const list = new ListDocumentsHandler(store);
  for (const [name, filter] of Object.entries(FILTERS)) {
    const took: number[] = [];
    for (let page = 0; page < PAGES; page += 1) {
      await put([{ ...row(page), tokenCount: page }]);
      const started = performance.now();
      await list.execute(new ListDocuments(AGENT, filter, { limit: LIMIT }));
      took.push(performance.now() - started);
    }
    const at = (share: number): string =>
      (took.toSorted((a, b) => a - b)[Math.floor(PAGES * share)] as number).toFixed(1).padStart(7);
    console.log(
      `  ${name.padEnd(16)} first ${(took[0] as number).toFixed(1).padStart(7)} ms, p50 ${at(0.5)} ms, p95 ${at(0.95)} ms`,
    );
  }
  await store.close();
  rmSync(folder, { recursive: true });
};

void main();
