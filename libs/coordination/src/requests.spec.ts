import { systemClock, Unavailable } from '@app/kernel';
import { MemoryLogger } from '../../../test/fixtures/counters';
import { MemoryCoordinationStore } from '../../../test/fixtures/memory-coordination-store';
import { until } from '../../../test/fixtures/until';
import { Requests } from './requests';

describe('what a process asks of another while the store is slow', () => {
  const ask = { group: 'view', unit: 0, action: 'swap', given: null };
  const late = new Unavailable('coordination', 'no answer', 'unknown');
  const setUp = () => {
    const store = new MemoryCoordinationStore();
    const requests = () => new Requests({ store, clock: systemClock, logger: new MemoryLogger() });
    let served = 0;
    const stop = requests().serve(async () => ({ value: (served += 1) }));
    return { store, asking: requests(), served: () => served, stop };
  };

  it('is answered though the request cannot be removed, or not soon', async () => {
    const { store, asking, stop } = setUp();
    const write = store.write.bind(store);
    const removals = [() => Promise.reject(late), () => new Promise<boolean>(() => undefined)];
    store.write = (key, value, options) => (value === null && removals.shift()?.()) || write(key, value, options);
    expect(await asking.ask(ask)).toBe(1);
    expect(await asking.ask(ask)).toBe(2);
    await stop();
  });

  it('is answered though the store does not answer for a while whoever waits', async () => {
    const { store, asking, stop } = setUp();
    jest.spyOn(store, 'read').mockRejectedValueOnce(late).mockRejectedValueOnce(late);
    expect(await asking.ask(ask)).toBe(1);
    await stop();
  });

  it.each([true, false])('is done once though the answer cannot be written at first; it stands: %s', async (stands) => {
    const { store, asking, served, stop } = setUp();
    const write = store.write.bind(store);
    let left = 3;
    store.write = async (key, value, options) => {
      if (options === undefined || left === 0) return write(key, value, options);
      left -= 1;
      if (stands) await write(key, value, options);
      throw late;
    };
    expect(await asking.ask(ask)).toBe(1);
    await until(() => left === 0 || stands);
    expect(served()).toBe(1);
    await stop();
  });
});
