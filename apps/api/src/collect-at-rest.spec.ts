import { collectorAtRest } from './collect-at-rest';

const MIB = 1024 * 1024;

/** A heap that holds so many MiB, of which a collection leaves those that are in use. */
const heapOf = (committed: number, live: number) => {
  const state = { busy: 0, committed, live, collections: 0, ofStart: 0 };
  const look = collectorAtRest({
    busy: () => state.busy,
    heap: () => ({ committed: state.committed * MIB, used: state.live * MIB }),
    collect: async (isStart) => {
      state.collections += 1;
      if (isStart) state.ofStart += 1;
      state.committed = state.live + 5;
    },
  });
  /** A minute of rest with so many MiB. */
  const rest = async (mebibytes: number): Promise<void> => {
    state.committed = mebibytes;
    for (let looks = 0; looks < 12; looks += 1) await look();
  };
  return { state, look, rest };
};

describe('Collecting at rest', () => {
  it('gives memory back once, while nothing is done', async () => {
    const { state, look } = heapOf(180, 40);
    await look();
    await look();
    expect(state).toMatchObject({ committed: 45, collections: 1, ofStart: 1 });
  });

  it('leaves a process alone that works', async () => {
    const { state, look } = heapOf(180, 40);
    state.busy = 0.1;
    await look();
    expect(state.collections).toBe(0);
    state.busy = 0.01;
    await look();
    expect(state.collections).toBe(1);
  });

  it('waits for a rest that lasts where a process began to serve right after its start', async () => {
    const { state, look } = heapOf(180, 40);
    state.busy = 0.1;
    for (let looks = 0; looks < 3; looks += 1) await look();
    state.busy = 0.01;
    for (let looks = 0; looks < 11; looks += 1) await look();
    expect(state.collections).toBe(0);
    await look();
    expect(state).toMatchObject({ collections: 1, ofStart: 0 });
  });

  it('leaves code warm through pauses between requests', async () => {
    const { state, look, rest } = heapOf(180, 40);
    await rest(180);
    state.committed = 180;
    for (let pause = 0; pause < 5; pause += 1) {
      state.busy = 0.5;
      await look();
      state.busy = 0;
      for (let looks = 0; looks < 11; looks += 1) await look();
    }
    expect(state.collections).toBe(1);
    await look();
    expect(state).toMatchObject({ collections: 2, ofStart: 1 });
  });

  it('collects again when the heap has grown by enough since', async () => {
    const { state, rest } = heapOf(180, 40);
    await rest(180);
    await rest(70);
    expect(state.collections).toBe(1);
    await rest(80);
    expect(state.collections).toBe(2);
  });

  it('counts growth from where the heap shrank to by itself', async () => {
    const { state, rest } = heapOf(180, 100);
    for (const mebibytes of [180, 40, 75]) await rest(mebibytes);
    expect(state.collections).toBe(2);
  });

  it('does not stand still a second time for a heap that is large and in use', async () => {
    const { state, rest } = heapOf(600, 400);
    for (const mebibytes of [600, 900]) await rest(mebibytes);
    expect(state.collections).toBe(1);
  });
});
