import { change, put, type TestView } from './test-view.contract';

/** How rows are read, found and paged. */
export const readingContract = (view: () => TestView): void => {
  describe('reading', () => {
    const list = (count: number) =>
      view().commit([
        change(
          1,
          ...[...Array(count).keys()].map((n) =>
            put(`k${String(n).padStart(2, '0')}`, {
              spaceId: `s${n % 3}`,
              createdAt: Math.floor(n / 6),
              rank: n % 4 === 0 ? null : n % 4,
              name: `n${n % 2}`,
            }),
          ),
        ),
      ]);
    const keys = (rows: readonly { readonly key: string }[]) => rows.map(({ key }) => key);

    it('finds nothing, one and many', async () => {
      const bySpace = {
        where: { spaceId: 's1' },
        orderBy: [{ field: 'createdAt', order: 'desc' }],
        limit: 10,
      } as const;
      expect([
        await view().store.get(view().name, 'k01'),
        await view().store.find(view().name, bySpace),
        await view().store.count(view().name),
      ]).toEqual([undefined, [], 0]);
      await list(2);
      expect([
        keys(await view().store.find(view().name, bySpace)),
        await view().store.count(view().name, { spaceId: 's1' }),
      ]).toEqual([['k01'], 1]);
      await view().commit([change(2, put('z', { spaceId: 's1', createdAt: 9 }))]);
      expect(keys(await view().store.find(view().name, bySpace))).toEqual(['z', 'k01']);
    });

    it('answers keys in the order asked for and leaves unknown ones out', async () => {
      await list(5);
      expect(keys(await view().store.getMany(view().name, ['k03', 'nobody', 'k01', 'k03']))).toEqual([
        'k03',
        'k01',
        'k03',
      ]);
    });

    it('follows a change at once, and hands out the same frozen object as long as nothing changes', async () => {
      await view().commit([change(1, put('a', { spaceId: 's', tags: ['x'] }), put('b', { spaceId: 's' }))]);
      const before = await view().store.get(view().name, 'a');
      await view().commit([change(2, put('b', { spaceId: 's', n: 1 }))]);
      expect(await view().store.get(view().name, 'a')).toBe(before);
      expect((await view().store.find(view().name, { where: { spaceId: 's' }, limit: 1 }))[0]).toBe(before);
      expect([before, before?.row, before?.row['tags']].every(Object.isFrozen)).toBe(true);
      await view().commit([change(3, { op: 'patch', key: 'a', fields: { tags: [] } })]);
      expect(await view().row('a')).toEqual({ spaceId: 's', tags: [] });
      await view().commit([change(4, { op: 'remove', key: 'a' })]);
      expect(await view().store.get(view().name, 'a')).toBeUndefined();
    });

    it.each([
      ['ties in the last order', { where: { spaceId: 's1' }, orderBy: [{ field: 'createdAt', order: 'desc' }] }],
      ['the other way round', { where: { spaceId: 's1' }, orderBy: [{ field: 'createdAt', order: 'asc' }] }],
      [
        'several values',
        { where: { spaceId: { in: ['s2', 's0', 'none'] } }, orderBy: [{ field: 'createdAt', order: 'desc' }] },
      ],
      [
        'missing values',
        {
          orderBy: [
            { field: 'rank', order: 'asc' },
            { field: 'name', order: 'desc' },
          ],
        },
      ],
      [
        'missing values last',
        {
          orderBy: [
            { field: 'rank', order: 'desc' },
            { field: 'name', order: 'asc' },
          ],
        },
      ],
      ['a null', { where: { rank: null }, orderBy: [{ field: 'name', order: 'desc' }] }],
      ['no order', { where: { spaceId: 's2' } }],
      ['everything', {}],
    ] as const)('pages without gaps or repeats: %s', async (_, options) => {
      await list(40);
      const whole = await view().store.find(view().name, { ...options, limit: 1_000 });
      const paged = [];
      for (let page = await view().store.find(view().name, { ...options, limit: 3 }); page.length > 0;) {
        paged.push(...page);
        const last = page.at(-1) as (typeof page)[number];
        const values = ('orderBy' in options ? options.orderBy : []).map(({ field }) => last.row[field] ?? null);
        page = await view().store.find(view().name, { ...options, limit: 3, after: { values, key: last.key } });
      }
      expect(whole.length).toBeGreaterThan(8);
      expect(keys(paged)).toEqual(keys(whole));
      expect(new Set(keys(paged)).size).toBe(whole.length);
    });

    it('orders by the fields, then by key in the last order', async () => {
      await list(7);
      const found = await view().store.find(view().name, {
        where: { spaceId: 's0' },
        orderBy: [{ field: 'createdAt', order: 'desc' }],
        limit: 9,
      });
      expect(keys(found)).toEqual(['k06', 'k03', 'k00']);
    });

    it.each([
      ['an equal field without index', { where: { name: 'n1' } }],
      ['an order without index', { orderBy: [{ field: 'name', order: 'asc' }] }],
      [
        'an order that the index does not go on with',
        { where: { archived: true }, orderBy: [{ field: 'createdAt', order: 'asc' }] },
      ],
      [
        'mixed directions',
        {
          orderBy: [
            { field: 'rank', order: 'asc' },
            { field: 'name', order: 'asc' },
          ],
        },
      ],
    ] as const)('rejects what no declared index serves: %s', async (_, options) => {
      await expect(view().store.find(view().name, { ...options, limit: 5 })).rejects.toThrow(
        'no declared index serves',
      );
    });

    it('compares with 1,000 values at most', async () => {
      const values = (count: number) => ({
        where: { spaceId: { in: Array.from({ length: count }, (_, n) => `s${n}`) } },
        limit: 5,
      });
      expect(await view().store.find(view().name, values(1_000))).toEqual([]);
      expect(await view().store.find(view().name, values(0))).toEqual([]);
      await expect(view().store.find(view().name, values(1_001))).rejects.toThrow('1,000 is the most');
    });

    it('ends with the row that brings the sizes of those found to what is the most, and reads no further', async () => {
      await view().commit([
        change(
          1,
          ...['a', 'b', 'c', 'd', 'e', 'f'].map((key) =>
            put(key, { spaceId: 's', createdAt: 1, text: key.repeat(key < 'd' ? 100 : 10_000) }),
          ),
        ),
      ]);
      const found = (most: number) =>
        view().store.find(view().name, {
          where: { spaceId: 's' },
          orderBy: [{ field: 'createdAt', order: 'asc' }],
          limit: 5,
          most,
        });
      const size = (await found(1))[0]?.size as number;
      expect(size).toBe(JSON.stringify({ spaceId: 's', createdAt: 1, text: 'a'.repeat(100) }).length);
      expect([
        keys(await found(1)),
        keys(await found(size)),
        keys(await found(2 * size + 1)),
        keys(await found(4 * size)),
        keys(await found(1_000_000)),
      ]).toEqual([['a'], ['a'], ['a', 'b', 'c'], ['a', 'b', 'c', 'd'], ['a', 'b', 'c', 'd', 'e']]);
    });

    it('scans all rows by key in pages', async () => {
      await list(5);
      expect(keys(await view().store.scan(view().name, 1, 'k01', 2))).toEqual(['k02', 'k03']);
      expect(keys(await view().store.scan(view().name, 1, null, 2))).toEqual(['k00', 'k01']);
    });
  });
};
