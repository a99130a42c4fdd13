import type { CoordinationStore } from './coordination-store';

/** A store that can be closed and opened again, as another process, or this one after a restart, finds it. */
export interface CoordinationStoreUnderTest {
  readonly store: CoordinationStore;
  /** Opens the same store once more, beside the first. */
  beside(): Promise<CoordinationStore>;
  destroy(): Promise<void>;
}

/** What every adapter of the `CoordinationStore` port does. */
export const coordinationStoreContract = (name: string, open: () => Promise<CoordinationStoreUnderTest>): void => {
  describe(`${name} as a coordination store`, () => {
    let under: CoordinationStoreUnderTest;
    let store: CoordinationStore;

    beforeAll(async () => {
      under = await open();
      store = under.store;
    });
    afterAll(() => under.destroy());

    it('reads, lists by prefix in pages, and removes', async () => {
      for (const key of ['run:2', 'run:1', 'rum', 'run:3']) await store.write(`list/${key}`, { key });
      const listed = async (prefix: string, options = {}) =>
        (await store.list(`list/${prefix}`, options)).map(({ value }) => (value as { key: string }).key);
      expect(await store.read('list/run:1')).toEqual({ key: 'run:1' });
      expect([await listed('run:', { limit: 2 }), await listed('run:', { after: 'list/run:2' })]).toEqual([
        ['run:1', 'run:2'],
        ['run:3'],
      ]);
      await store.write('list/run:1', null);
      expect([await store.read('list/run:1'), await listed('')]).toEqual([undefined, ['rum', 'run:2', 'run:3']]);
    });

    it('writes only over the expected value', async () => {
      expect(await store.write('lease', { owner: 'a', n: 1 }, { expected: undefined })).toBe(true);
      expect(await store.write('lease', { owner: 'b' }, { expected: undefined })).toBe(false);
      expect(await store.write('lease', { owner: 'b' }, { expected: { n: 1, owner: 'a' } })).toBe(true);
      expect(await store.write('lease', null, { expected: { owner: 'a' } })).toBe(false);
      expect(await store.read('lease')).toEqual({ owner: 'b' });
      expect(await store.write('lease', null, { expected: { owner: 'b' } })).toBe(true);
      expect(await store.write('lease', null, { expected: undefined })).toBe(true);
      expect(await store.read('lease')).toBeUndefined();
    });

    it('lets one of many win who write over the same value', async () => {
      const other = await under.beside();
      try {
        await store.write('race', { winner: null });
        const wins = await Promise.all(
          Array.from({ length: 20 }, (_, index) =>
            (index % 2 === 0 ? store : other).write('race', { winner: index }, { expected: { winner: null } }),
          ),
        );
        expect(wins.filter((won) => won)).toHaveLength(1);
        expect(await other.read('race')).toEqual({ winner: wins.indexOf(true) });
      } finally {
        await other.close();
      }
    });

    it('shows at once to others what was written, and keeps it when it is closed', async () => {
      const other = await under.beside();
      await other.write('shared', ['é', { nested: [1, null, true] }]);
      expect(await store.read('shared')).toEqual(['é', { nested: [1, null, true] }]);
      await store.write('shared', 2);
      expect(await other.read('shared')).toBe(2);
      await other.write('shared', 3);
      await other.close();
      const later = await under.beside();
      expect(await later.read('shared')).toBe(3);
      await later.close();
    });

    it('is healthy', async () => {
      expect(await store.health()).toEqual({ ok: true });
    });
  });
};
