import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Blobs } from '@app/blobs';
import { systemClock } from '@app/kernel';
import { encodePassages, openSqliteSearchIndex, type SearchIndex } from '@app/search-index';
import { counted, counterCodec, leasesAlone, MemoryLogger, opened, stored } from '../../../../test/fixtures/counters';
import { MemoryLog } from '../../../../test/fixtures/memory-log';
import { MemoryReadStore } from '../../../../test/fixtures/memory-read-store';
import { until } from '../../../../test/fixtures/until';
import { Projecting } from '../projecting';
import type { SearchProjection } from '../projection';

/** Each opened counter is a document whose passages stand in the blob of its name. */
const documents: SearchProjection = {
  kind: 'search',
  name: 'documents',
  version: 1,
  types: ['CounterOpened', 'Counted', 'CounterClosed'],
  apply: ({ type, data, context }) => {
    const documentId = context.stream;
    if (type === 'CounterClosed') return [{ op: 'removeDocument', documentId }];
    if (type === 'Counted') return [{ op: 'patchDocument', documentId, fields: { revision: context.revision } }];
    return [
      {
        op: 'putDocument',
        documentId,
        stream: context.stream,
        name: String(data['name']),
        scope: 'g',
        tagIds: [],
        revision: context.revision,
        embeddingModel: null,
        passages: String(data['name']),
      },
    ];
  },
};

const passages = (text: string): Promise<Buffer> =>
  encodePassages([
    { chunkId: `chunk of ${text}`, ordinal: 0, text, headings: [], start: 0, end: text.length, enabled: true },
  ]);

let folder: string;
let searchIndex: SearchIndex;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'search-view-'));
  searchIndex = await openSqliteSearchIndex({ folder, inThread: true });
});
afterEach(async () => {
  await searchIndex.close();
  rmSync(folder, { recursive: true });
});

const running = async () => {
  const log = new MemoryLog();
  const bodies = new Map([
    ['granite', await passages('granite rocks')],
    ['marble', await passages('marble rocks')],
    ['broken', Buffer.from('{')],
  ]);
  const blobs = { get: async (_thing: string, name: string) => bodies.get(name) } as Blobs;
  const projecting = new Projecting({
    log,
    codec: counterCodec,
    readStore: new MemoryReadStore(),
    searchIndex,
    blobs,
    projections: [documents],
    clock: systemClock,
    logger: new MemoryLogger(),
    leases: leasesAlone(),
  });
  await projecting.start();
  const append = async (stream: string, event: ReturnType<typeof counted>): Promise<void> => {
    const { position } = await log.append(stream, [event], 'any');
    expect(await projecting.waitFor('documents', position, 10_000)).toBe(true);
  };
  const found = async (): Promise<readonly string[]> =>
    (await searchIndex.search('documents', { scopes: ['g'], text: 'rocks', mode: 'text', limit: 10 }))
      .map(({ documentId }) => documentId)
      .toSorted();
  return { projecting, bodies, append, found };
};

describe('a search projection', () => {
  it('indexes the passages of the blobs that events name, and follows changes and removals', async () => {
    const { projecting, append, found } = await running();
    await append('counter-a', opened('granite'));
    await append('counter-b', opened('marble'));
    expect(await found()).toEqual(['counter-a', 'counter-b']);
    await append('counter-a', stored('CounterClosed', {}));
    expect(await found()).toEqual(['counter-b']);
    await projecting.stop();
  });

  it('leaves out a document whose passages are gone, and takes that for no fault', async () => {
    const { projecting, append, found } = await running();
    await append('counter-a', opened('erased'));
    await append('counter-b', opened('marble'));
    expect(await found()).toEqual(['counter-b']);
    expect(await projecting.deadLetters()).toEqual([]);
    await projecting.stop();
  });

  it('parks a document whose passages cannot be read, and indexes it when retried after a repair', async () => {
    const { projecting, bodies, append, found } = await running();
    await append('counter-a', opened('broken'));
    await append('counter-b', opened('marble'));
    expect(await found()).toEqual(['counter-b']);
    const [letter] = await projecting.deadLetters();
    expect(letter).toMatchObject({ reason: 'apply', stream: 'counter-a' });
    bodies.set('broken', await passages('rocks again'));
    expect(await projecting.retryDeadLetter(letter?.id ?? '')).toBeUndefined();
    expect(await found()).toEqual(['counter-a', 'counter-b']);
    await projecting.stop();
  });

  it('is rebuilt beside, verified, and without what was erased since', async () => {
    const { projecting, bodies, append, found } = await running();
    for (const name of ['granite', 'marble']) await append(`counter-${name}`, opened(name));
    const rebuild = projecting.rebuild('documents');
    await rebuild.start({ swap: true });
    await until(async () => (await rebuild.status())?.state === 'swapped');
    expect((await rebuild.status())?.verification).toMatchObject({ equal: true, rows: 2 });
    await rebuild.retire();
    bodies.delete('granite');
    await rebuild.start({ swap: false });
    await until(async () => (await rebuild.status())?.state === 'ready');
    expect((await rebuild.status())?.verification).toMatchObject({
      equal: false,
      rows: 1,
      liveRows: 2,
      listed: [{ key: 'counter-granite', difference: 'missing' }],
    });
    await rebuild.swap();
    expect(await found()).toEqual(['counter-marble']);
    await projecting.stop();
  });
});
