import { CheckpointMismatch, Fenced, UniqueViolation } from '.';
import { operationsContract } from './operations.contract';
import { readingContract } from './reading.contract';
import { slicesContract } from './slices.contract';
import { valuesContract } from './values.contract';
import { at, change, put, type ReadStoreUnderTest, TestView } from './test-view.contract';

/** What every adapter of the `ReadStore` port does. One store serves all tests; each has a view of its own. */
export const readStoreContract = (name: string, open: () => Promise<ReadStoreUnderTest>): void => {
  describe(`${name} as a read store`, () => {
    let under: ReadStoreUnderTest;
    let tested: TestView;
    let tests = 0;
    const view = (): TestView => tested;
    const reopen = async (): Promise<void> => void (tested = new TestView(tested.name, await under.reopen()));

    beforeAll(async () => {
      under = await open();
      tested = new TestView('none', under.store);
    });
    afterAll(() => under.destroy());
    beforeEach(async () => {
      tested = new TestView(`agents-${(tests += 1)}`, tested.store);
      await tested.store.prepare(tested.spec());
      await tested.store.swap(tested.name, undefined, 1);
    });

    operationsContract(view);
    readingContract(view);
    slicesContract(view, reopen);
    valuesContract(view);

    describe('commits', () => {
      it('begins at no position and keeps the checkpoint with the rows', async () => {
        expect(await view().store.checkpoint(view().name, 1)).toEqual({ position: null, handled: 0 });
        await view().commit([change(7, put('a', {}))], { to: { position: at(9), handled: 4 } });
        await reopen();
        expect(await view().store.checkpoint(view().name, 1)).toEqual({ position: at(9), handled: 4 });
        expect(await view().row('a')).toEqual({});
      });

      it('knows no checkpoint of a version that was never prepared', async () => {
        expect(await view().store.checkpoint(view().name, 99)).toBeUndefined();
      });

      it('rejects a batch that does not begin where the view stands', async () => {
        await view().commit([change(1, put('a', { n: 1 }))]);
        await expect(view().commit([change(2, put('a', { n: 2 }))], { from: null })).rejects.toThrow(
          CheckpointMismatch,
        );
        expect(await view().row('a')).toEqual({ n: 1 });
      });

      it('rejects an older writer for ever after a newer one wrote, also after a restart', async () => {
        await view().commit([change(1, put('a', { n: 1 }))], { fence: 3 });
        await reopen();
        await expect(view().commit([change(2, put('a', { n: 2 }))], { fence: 2 })).rejects.toThrow(Fenced);
        await view().commit([change(2, put('a', { n: 3 }))], { fence: 3 });
        expect(await view().row('a')).toEqual({ n: 3 });
      });

      it('writes nothing of a batch that fails', async () => {
        await view().commit([change(1, put('a', { slug: 'x' }))], { state: { mark: 'before' } });
        const failing = view().commit([change(2, put('b', { slug: 'y' })), change(3, put('c', { slug: 'x' }))], {
          state: { mark: 'after' },
        });
        await expect(failing).rejects.toMatchObject({
          name: 'UniqueViolation',
          view: view().name,
          index: 'slugs',
          key: 'c',
        });
        await expect(failing).rejects.toBeInstanceOf(UniqueViolation);
        expect([
          (await view().everything()).length,
          await view().store.checkpoint(view().name, 1),
          await view().store.viewState(view().name, 1),
        ]).toEqual([1, { position: at(1), handled: 0 }, [{ key: 'mark', value: 'before' }]]);
      });

      it('keeps, replaces and removes the state of a view version with the batch', async () => {
        await view().commit([change(1)], { state: { b: { stream: 'x' }, a: 1 } });
        await view().commit([change(2)], { state: { b: [2], c: false, a: null } });
        expect(await view().store.viewState(view().name, 1)).toEqual([
          { key: 'b', value: [2] },
          { key: 'c', value: false },
        ]);
      });
    });

    describe('unique indexes', () => {
      it('reject a value that another row holds, in the batch or before it', async () => {
        await expect(
          view().commit([change(1, put('a', { slug: 'x' })), change(2, put('b', { slug: 'x' }))]),
        ).rejects.toThrow(UniqueViolation);
        await view().commit([change(1, put('a', { slug: 'x' }))]);
        await expect(view().commit([change(2, { op: 'put', key: 'b', row: { slug: 'x' } })])).rejects.toThrow(
          UniqueViolation,
        );
        await expect(
          view().commit([change(2, put('b', {})), change(3, { op: 'patch', key: 'b', fields: { slug: 'x' } })]),
        ).rejects.toThrow(UniqueViolation);
      });

      it('hold after each change, though a later one of the batch would end the repetition', async () => {
        await view().commit([change(1, put('a', { slug: 'x' }))]);
        await expect(
          view().commit([change(2, put('b', { slug: 'x' })), change(3, { op: 'remove', key: 'a' })]),
        ).rejects.toThrow(UniqueViolation);
      });

      it('let a value pass from row to row, and two rows change places', async () => {
        await view().commit([change(1, put('a', { slug: 'x' }), put('b', { slug: 'y' }))]);
        await view().commit([
          change(2, put('a', { slug: 'y' }), put('b', { slug: 'x' })),
          change(3, { op: 'remove', key: 'a' }),
          change(4, put('c', { slug: 'y' })),
        ]);
        expect((await view().everything()).map(({ key, row: found }) => [key, found['slug']])).toEqual([
          ['b', 'x'],
          ['c', 'y'],
        ]);
      });

      it('do not count rows without a value', async () => {
        await view().commit([
          change(1, put('a', { slug: null }), put('b', { slug: null }), put('c', {}), put('d', {})),
        ]);
        expect(await view().store.count(view().name)).toBe(4);
      });
    });

    describe('versions', () => {
      it('fill beside the live one, are served from the swap on, and back', async () => {
        await view().commit([change(1, put('a', { n: 1 }))]);
        await view().store.prepare({ ...view().spec(2), indexes: [] });
        await view().commit([change(1, put('a', { n: 2 }))], { version: 2 });
        expect([
          await view().store.live(view().name),
          await view().store.versions(view().name),
          await view().row('a'),
        ]).toEqual([1, [1, 2], { n: 1 }]);
        expect((await view().store.get(view().name, 'a', 2))?.row).toEqual({ n: 2 });
        expect([await view().store.swap(view().name, 1, 2), await view().row('a')]).toEqual([true, { n: 2 }]);
        expect([await view().store.swap(view().name, 2, 1), await view().row('a')]).toEqual([true, { n: 1 }]);
      });

      it('swap only from the version that is live', async () => {
        await view().store.prepare(view().spec(2));
        const won = await Promise.all([
          view().store.swap(view().name, 1, 2),
          view().store.swap(view().name, 1, 2),
          view().store.swap(view().name, undefined, 2),
        ]);
        expect(won.toSorted()).toEqual([false, false, true]);
        expect(won[2]).toBe(false);
        await reopen();
        expect(await view().store.live(view().name)).toBe(2);
      });

      it('are gone with all they held when dropped, and begin empty when made again', async () => {
        await view().store.prepare(view().spec(2));
        await view().commit([change(1, put('a', { n: 2 }))], { version: 2 });
        expect(await view().store.get(view().name, 'a', 2)).toBeDefined();
        await view().store.drop(view().name, 2);
        expect([await view().store.versions(view().name), await view().store.checkpoint(view().name, 2)]).toEqual([
          [1],
          undefined,
        ]);
        await expect(view().store.get(view().name, 'a', 2)).rejects.toMatchObject({ name: 'Unavailable' });
        await view().store.prepare(view().spec(2));
        expect([await view().store.get(view().name, 'a', 2), await view().store.checkpoint(view().name, 2)]).toEqual([
          undefined,
          { position: null, handled: 0 },
        ]);
      });

      it('are prepared twice without harm, but not with other indexes', async () => {
        await view().commit([change(1, put('a', {}))]);
        await view().store.prepare(view().spec(1));
        expect(await view().row('a')).toEqual({});
        await expect(view().store.prepare({ ...view().spec(1), indexes: [] })).rejects.toThrow('other indexes');
      });

      it('are unavailable before the first is live', async () => {
        await view().store.prepare({ name: `${view().name}-later`, version: 1, indexes: [] });
        expect(await view().store.live(`${view().name}-later`)).toBeUndefined();
        await expect(view().store.get(`${view().name}-later`, 'a')).rejects.toMatchObject({ name: 'Unavailable' });
      });
    });

    describe('small state', () => {
      it('is read, listed by prefix in pages, and removed', async () => {
        for (const key of ['run:2', 'run:1', 'rum', 'run:3'])
          await view().store.writeState(`${view().name}/${key}`, { key });
        const listed = async (prefix: string, options = {}) =>
          (await view().store.listState(`${view().name}/${prefix}`, options)).map(
            ({ value }) => (value as { key: string }).key,
          );
        expect(await view().store.readState(`${view().name}/run:1`)).toEqual({ key: 'run:1' });
        expect([await listed('run:', { limit: 2 }), await listed('run:', { after: `${view().name}/run:2` })]).toEqual([
          ['run:1', 'run:2'],
          ['run:3'],
        ]);
        await view().store.writeState(`${view().name}/run:1`, null);
        expect([await view().store.readState(`${view().name}/run:1`), await listed('')]).toEqual([
          undefined,
          ['rum', 'run:2', 'run:3'],
        ]);
      });

      it('is written only over the expected value', async () => {
        const lease = `${view().name}/lease`;
        expect(await view().store.writeState(lease, { owner: 'a', n: 1 }, { expected: undefined })).toBe(true);
        expect(await view().store.writeState(lease, { owner: 'b' }, { expected: undefined })).toBe(false);
        expect(await view().store.writeState(lease, { owner: 'b' }, { expected: { n: 1, owner: 'a' } })).toBe(true);
        expect(await view().store.writeState(lease, null, { expected: { owner: 'a' } })).toBe(false);
        await reopen();
        expect(await view().store.readState(lease)).toEqual({ owner: 'b' });
      });
    });

    it('is healthy, and stays readable over a purge', async () => {
      await view().commit([change(1, put('a', { n: 1 }))]);
      await view().store.purge();
      expect([await view().store.health(), await view().row('a')]).toEqual([{ ok: true }, { n: 1 }]);
    });
  });
};
