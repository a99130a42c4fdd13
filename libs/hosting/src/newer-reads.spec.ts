import { inReadScope, moment, servesReadScope } from '@app/kernel';
import { Claims } from '@app/coordination';
import type { SearchIndex, SearchQuery } from '@app/search-index';
import { FixedClock } from '../../../test/fixtures/fixed-clock';
import { MemoryCoordinationStore } from '../../../test/fixtures/memory-coordination-store';
import { MemoryReadStore } from '../../../test/fixtures/memory-read-store';
import { asNewerReads } from './newer-reads';

/** The reads of an index, which are all that is wrapped here. */
const search = { search: async () => [], scopesWith: async () => [] } as unknown as SearchIndex;

describe('what is read elsewhere than in the log', () => {
  // As a log on a server does, which is asked.
  beforeAll(() => void moment());

  const opened = () => {
    const stores = { readStore: new MemoryReadStore(), coordination: new MemoryCoordinationStore() };
    asNewerReads({ ...stores, searchIndex: search });
    return stores;
  };
  /** Whether an answer that served before the work serves behind it. */
  const servesBehind = (work: () => Promise<unknown>): Promise<boolean> =>
    inReadScope(async () => {
      const asked = moment();
      expect(servesReadScope(asked)).toBe(true);
      await work();
      return servesReadScope(asked);
    });

  it('has the log asked anew: it may tell of what came since', async () => {
    const { readStore, coordination } = opened();
    const reads: readonly (() => Promise<unknown>)[] = [
      () => readStore.readState('a'),
      () => readStore.listState('a'),
      () => readStore.writeState('a', 1),
      () => coordination.read('a'),
      () => coordination.list('a'),
      () => coordination.write('a', 1),
      () => search.search('documents', {} as SearchQuery),
    ];
    for (const read of reads) expect(await servesBehind(read)).toBe(false);
    expect(await servesBehind(async () => undefined)).toBe(true);
  });

  it('is a claim that was taken, or found held, too', async () => {
    const claims = new Claims(opened().coordination, new FixedClock(), 'p1', 1_000, console);
    let release: (() => Promise<void>) | undefined;
    expect(await servesBehind(async () => (release = await claims.take('turn/c1')))).toBe(false);
    expect(await servesBehind(() => claims.take('turn/c1'))).toBe(false);
    await release?.();
  });
});
