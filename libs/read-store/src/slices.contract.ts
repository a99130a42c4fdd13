import { CheckpointMismatch, Fenced } from '.';
import { at, change, put, type TestView } from './test-view.contract';

/** Several writers fill slices of one version, each with a checkpoint and a fence of its own. */
export const slicesContract = (view: () => TestView, reopen: () => Promise<void>): void => {
  describe('slices', () => {
    const place = (slice: number) => view().store.checkpoint(view().name, 1, slice);

    it('begin at no position, each for itself', async () => {
      await view().commit([change(5, put('a', {}))]);
      expect([await place(0), await place(3)]).toEqual([
        { position: at(5), handled: 0 },
        { position: null, handled: 0 },
      ]);
      expect(await view().store.checkpoint(view().name, 99, 3)).toBeUndefined();
    });

    it('keep checkpoints apart, over restarts too', async () => {
      await view().commit([change(5, put('a', { n: 1 }))], {
        slice: 1,
        from: null,
        to: { position: at(5), handled: 1 },
      });
      await view().commit([change(4, put('b', { n: 2 }))], {
        slice: 2,
        from: null,
        to: { position: at(6), handled: 3 },
      });
      await reopen();
      expect([await place(0), await place(1), await place(2)]).toEqual([
        { position: null, handled: 0 },
        { position: at(5), handled: 1 },
        { position: at(6), handled: 3 },
      ]);
      expect((await view().everything()).map(({ key }) => key)).toEqual(['a', 'b']);
      await expect(view().commit([], { slice: 1, from: at(6), to: { position: at(7), handled: 3 } })).rejects.toThrow(
        CheckpointMismatch,
      );
    });

    it('are fenced each for itself', async () => {
      await view().commit([], { slice: 1, from: null, to: { position: null, handled: 0 }, fence: 9 });
      await view().commit([change(1, put('a', {}))], { slice: 2, from: null, fence: 3 });
      await reopen();
      await expect(view().commit([change(1, put('b', {}))], { slice: 1, from: null, fence: 8 })).rejects.toThrow(
        Fenced,
      );
      await view().commit([change(1, put('c', {}))], { slice: 1, from: null, fence: 9 });
      expect((await view().everything()).map(({ key }) => key)).toEqual(['a', 'c']);
    });

    it('are written at the same time', async () => {
      const slices = [0, 1, 2, 3, 4, 5, 6, 7];
      const write = async (slice: number): Promise<void> => {
        for (let number = 1; number <= 5; number += 1) {
          const from = number === 1 ? null : at(number - 1);
          await view().commit([change(number, put(`${slice}-${number}`, { n: number }))], {
            slice,
            from,
            to: { position: at(number), handled: number },
            state: { [`s${slice}`]: number },
          });
        }
      };
      await Promise.all(slices.map(write));
      expect(await Promise.all(slices.map(place))).toEqual(slices.map(() => ({ position: at(5), handled: 5 })));
      expect([(await view().everything()).length, (await view().store.viewState(view().name, 1)).length]).toEqual([
        40, 8,
      ]);
    });

    it('end with their version', async () => {
      await view().store.prepare(view().spec(2));
      await view().commit([change(1, put('a', {}))], { version: 2, slice: 1, from: null });
      await view().store.drop(view().name, 2);
      expect(await view().store.checkpoint(view().name, 2, 1)).toBeUndefined();
      await expect(view().commit([change(2, put('b', {}))], { version: 2, slice: 1, from: at(1) })).rejects.toThrow();
      expect(await view().store.versions(view().name)).toEqual([1]);
      await view().store.prepare(view().spec(2));
      expect(await view().store.checkpoint(view().name, 2, 1)).toEqual({ position: null, handled: 0 });
    });
  });
};
