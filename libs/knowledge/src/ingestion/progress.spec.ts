import { FixedClock } from '../../../../test/fixtures/fixed-clock';
import { MemoryCoordinationStore } from '../../../../test/fixtures/memory-coordination-store';
import { ProgressBoard, readProgress } from './progress';

const ID = '0198c0de-0000-7000-8000-000000000001';

const setUp = () => {
  const store = new MemoryCoordinationStore();
  const write = jest.spyOn(store, 'write');
  const errors: unknown[] = [];
  const board = new ProgressBoard(store, new FixedClock(), (error) => errors.push(error));
  return { store, write, errors, board, shown: async () => (await readProgress(store, ID))?.done };
};

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

it('writes nothing of an attempt that ends at once', async () => {
  const { board, write } = setUp();
  board.show(ID, 1, 'parse', 0, null);
  board.show(ID, 1, 'embed', 3, 3);
  await board.clear(ID, false);
  await jest.advanceTimersByTimeAsync(1_000);
  expect(write).not.toHaveBeenCalled();
});

it('shows the last of what is done meanwhile, and nothing once the attempt has ended', async () => {
  const { board, write, shown } = setUp();
  for (let done = 0; done < 6; done += 1) {
    board.show(ID, 1, 'embed', done, 10);
    await jest.advanceTimersByTimeAsync(100);
  }
  expect([await shown(), write.mock.calls.length]).toEqual([5, 2]);
  await jest.advanceTimersByTimeAsync(1_000);
  expect(write).toHaveBeenCalledTimes(2);
  board.show(ID, 1, 'publish', 10, 10);
  await board.clear(ID, false);
  expect(await shown()).toBeUndefined();
});

it('removes what a killed process left', async () => {
  const { board, store, errors, shown } = setUp();
  board.show(ID, 1, 'embed', 1, 10);
  await jest.advanceTimersByTimeAsync(300);
  expect(await shown()).toBe(1);
  await new ProgressBoard(store, new FixedClock(), (error) => errors.push(error)).clear(ID, true);
  expect(await shown()).toBeUndefined();
});

it('goes on where the store is away, and shows what comes next', async () => {
  const { board, write, errors, shown } = setUp();
  const away = new Error('away');
  write.mockRejectedValueOnce(away);
  board.show(ID, 1, 'embed', 1, 10);
  await jest.advanceTimersByTimeAsync(300);
  expect([errors, await shown()]).toEqual([[away], undefined]);
  board.show(ID, 1, 'embed', 2, 10);
  await jest.advanceTimersByTimeAsync(300);
  expect(await shown()).toBe(2);
});
