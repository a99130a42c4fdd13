import { counted, opened } from '../../../../test/fixtures/counters';
import { MemoryLog } from '../../../../test/fixtures/memory-log';
import { MemoryReadStore } from '../../../../test/fixtures/memory-read-store';
import { until } from '../../../../test/fixtures/until';
import { viewOver } from '../../../../test/fixtures/view-over';
import { sliceOf } from './slices';
import { verify } from '../rebuild/verification';
import type { View } from './view';

const STREAMS = Array.from({ length: 16 }, (_, index) => `counter-${index}`);
const FENCE = 1;

const slices = (from: number, to: number): ReadonlyMap<number, number> =>
  new Map(Array.from({ length: to - from }, (_, index) => [from + index, FENCE]));

/** What stands in a build, as if another process had followed the log for these slices. */
const advanceElsewhere = async (
  log: MemoryLog,
  readStore: MemoryReadStore,
  version: number,
  held: ReadonlyMap<number, number>,
): Promise<void> => {
  const other = viewOver(log, readStore);
  await other.hold(held);
  await other.attend(version, undefined);
  const head = await log.head();
  await until(() => other.live?.position === head, 'the other process');
  await other.close();
};

describe('a view that is brought together', () => {
  let log: MemoryLog;
  let readStore: MemoryReadStore;
  let view: View;
  let next: number;
  const countAll = async (): Promise<void> => {
    for (const stream of STREAMS) await log.append(stream, [counted(1)], 'any');
  };

  /** Both builds stand at the same place; then more arrives, which this process does not come to read. */
  beforeEach(async () => {
    log = new MemoryLog();
    readStore = new MemoryReadStore();
    for (const stream of STREAMS) await log.append(stream, [opened(stream)], 'noStream');
    expect(new Set(STREAMS.map((stream) => sliceOf(stream, 8))).size).toBeGreaterThan(4);
    view = viewOver(log, readStore);
    await view.open(slices(0, 8));
    next = await view.begin();
    await view.followBeside(next);
    await until(
      async () => view.live?.position === (await log.head()) && view.beside?.position === (await log.head()),
      'the head',
    );
    await view.close();
    await countAll();
    log.deliver = () => Promise.reject(new Error('the log is away'));
  });
  afterEach(() => view.close());

  it.each([
    ['live', () => 1],
    ['new', () => next],
  ])('compares its builds at one position, though slices of the %s one are ahead', async (_, ahead) => {
    log.deliver = (events, upTo, hand) => hand(events, upTo);
    await advanceElsewhere(log, readStore, ahead(), slices(4, 8));
    log.deliver = () => Promise.reject(new Error('the log is away'));
    await view.open(slices(0, 8));
    await view.followBeside(next);

    const verification = await view.aligned((position) => verify(view.store, next, view.served, position));

    expect(verification).toMatchObject({ equal: true, differences: 0, position: await log.head() });
  });
});

describe('a view whose store forgot what it had confirmed', () => {
  let log: MemoryLog;
  let readStore: MemoryReadStore;
  let view: View;
  let whole: string;

  beforeEach(async () => {
    [log, readStore] = [new MemoryLog(), new MemoryReadStore()];
    view = viewOver(log, readStore);
    await view.open(slices(0, 8));
    for (const stream of STREAMS) await log.append(stream, [opened(stream), counted(2)], 'noStream');
    const head = await log.head();
    await until(() => view.live?.position === head, 'the head');
    whole = readStore.text('counters', 1);
    jest.spyOn(log, 'subscribe');
    await view.confirm();
    readStore.forget('counters', 1, sliceOf('counter-0', 8));
    expect(readStore.text('counters', 1)).not.toBe(whole);
  });
  afterEach(() => view.close());

  it('goes on from what the store says, though nothing arrives', async () => {
    await expect(view.confirm()).rejects.toMatchObject({ name: 'Unavailable' });
    await until(() => readStore.text('counters', 1) === whole, 'the view');
    await until(
      () =>
        view.confirm().then(
          () => true,
          () => false,
        ),
      'a view that is confirmed',
    );
    expect(log.subscribe).toHaveBeenCalledTimes(1);
  });

  it('ends when it is closed while it begins again', async () => {
    const opening = Promise.withResolvers<void>();
    const letGo = Promise.withResolvers<void>();
    readStore.beforeCommit = async () => {
      opening.resolve();
      await letGo.promise;
    };
    await expect(view.confirm()).rejects.toMatchObject({ name: 'Unavailable' });
    await opening.promise;
    const closed = view.close();
    letGo.resolve();
    await closed;
    await new Promise((resolve) => setImmediate(resolve));
    expect(log.subscribe).not.toHaveBeenCalled();
  });
});
