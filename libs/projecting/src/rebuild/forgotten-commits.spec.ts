import { counted, opened } from '../../../../test/fixtures/counters';
import { MemoryCoordinationStore } from '../../../../test/fixtures/memory-coordination-store';
import { MemoryLog } from '../../../../test/fixtures/memory-log';
import { MemoryReadStore } from '../../../../test/fixtures/memory-read-store';
import { type SharedProjector, sharedProjector } from '../../../../test/fixtures/shared-projector';
import { until } from '../../../../test/fixtures/until';
import { SHARED_SLICES } from '../views/slices';

const STREAMS = 32;
/** A view under a rebuild is looked at every few seconds. */
const SOON = { patience: 20_000 };

/** A server may have confirmed what it had not stored when it was killed. What writes a view then must not wait for what it wrote. */
describe('a store that forgets what it confirmed', () => {
  let log: MemoryLog;
  let readStore: MemoryReadStore;
  let leader: SharedProjector;
  let other: SharedProjector;

  const fill = async (): Promise<void> => {
    for (let index = 0; index < STREAMS; index += 1)
      await log.append(`counter-${index}`, [opened(`n${index}`), counted(index === 13 ? 1 : index)], 'any');
  };
  const place = async (version: number, slice: number) =>
    (await readStore.checkpoint('counters', version, slice))?.position ?? null;
  const reached = (version: number, slices: readonly number[]): Promise<void> =>
    until(
      async () =>
        (await Promise.all(slices.map((slice) => place(version, slice)))).every((position) => position !== null),
      `build ${version}`,
    );
  const held = ({ leases }: SharedProjector): readonly number[] => [...leases.heldOf('counters').keys()];
  const isDivided = (): boolean =>
    held(leader).length === SHARED_SLICES / 2 && held(other).length === SHARED_SLICES / 2;
  const state = async (): Promise<string | undefined> => (await leader.projecting.rebuild('counters').status())?.state;

  /** Keeps these slices of the new build from being written until it is let go. */
  const hold = (slices: readonly number[]): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    readStore.beforeCommit = async ({ version, slice = 0 }) =>
      version === 2 && slices.includes(slice) ? promise : undefined;
    return resolve;
  };

  beforeEach(async () => {
    [log, readStore] = [new MemoryLog(), new MemoryReadStore()];
    const coordination = new MemoryCoordinationStore();
    [leader, other] = [
      sharedProjector({ name: 'a', log, readStore, coordination }),
      sharedProjector({ name: 'b', log, readStore, coordination }),
    ];
    await leader.start();
    await other.start();
    await until(isDivided, 'the division');
    await fill();
    await leader.projecting.waitFor('counters', (await log.head()) ?? '', 10_000);
  });
  afterEach(async () => {
    await leader.stop();
    await other.stop();
  });

  it.each([
    ['the leader of a rebuild', () => [leader, other]],
    ['who builds with it', () => [other, leader]],
  ])('has %s begin a slice again that it took for built', async (_, given) => {
    const [builder, waiting] = given() as [SharedProjector, SharedProjector];
    const letGo = hold(held(waiting));
    await leader.projecting.rebuild('counters').start({ swap: true });
    await reached(2, held(builder));
    const [slice = 0] = held(builder);
    readStore.forget('counters', 2, slice);
    expect(await place(2, slice)).toBeNull();
    letGo();
    await until(async () => (await state()) === 'swapped', 'the rebuild', SOON);
    expect((await leader.projecting.rebuild('counters').status())?.verification).toMatchObject({
      equal: true,
      differences: 0,
    });
    expect(readStore.text('counters', 2)).toBe(readStore.text('counters', 1));
  });
});
