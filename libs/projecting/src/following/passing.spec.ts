import type { SubscribeOptions } from '@app/event-log';
import { type Position, systemClock } from '@app/kernel';
import {
  counted,
  counterCodec,
  elsewhere,
  memoryProjecting,
  MemoryLogger,
  opened,
} from '../../../../test/fixtures/counters';
import { FixedClock } from '../../../../test/fixtures/fixed-clock';
import { MemoryLog, positionOf } from '../../../../test/fixtures/memory-log';
import { MemoryReadStore } from '../../../../test/fixtures/memory-read-store';
import { until } from '../../../../test/fixtures/until';
import { viewOver } from '../../../../test/fixtures/view-over';
import { ProjectingEvents } from '../events';
import { PolicyRunner } from '../policies/policy-runner';

/** A log whose subscribers are told by hand, as one does that knows what was appended. */
const toldByHand = () => {
  const log = new MemoryLog();
  const subscribe = jest.spyOn(log, 'subscribe');
  const pass = (upTo: Position): boolean =>
    (subscribe.mock.lastCall?.[0] as Required<SubscribeOptions> | undefined)?.onPassed(upTo) === true;
  return { log, pass };
};

describe('a view that is told that nothing of its types came', () => {
  const followed = async () => {
    const { log, pass } = toldByHand();
    const clock = new FixedClock();
    const { projecting, readStore } = memoryProjecting({ log, clock });
    await projecting.start();
    const { position } = await log.append('counter-a', [opened('a'), counted(2)], 'noStream');
    await projecting.waitFor('counters', position, 10_000);
    // It shows that before it is done with it.
    await until(() => pass(position));
    return { log, pass, clock, projecting, readStore };
  };

  it('shows everything up to there at once, and writes nothing for it', async () => {
    const { pass, projecting, readStore } = await followed();
    const before = readStore.commits.length;
    const waiting = projecting.waitFor('counters', positionOf(50), 10_000);

    expect(pass(positionOf(49))).toBe(true);
    expect(pass(positionOf(50))).toBe(true);

    expect(await waiting).toBe(true);
    expect(await projecting.status('counters')).toMatchObject({ position: positionOf(50) });
    expect(readStore.commits).toHaveLength(before);
    await projecting.stop();
    expect((await readStore.checkpoint('counters', 1))?.position).toBe(positionOf(50));
  });

  it('asks for a page where its checkpoint is due, and stores it then', async () => {
    const { log, pass, clock, projecting, readStore } = await followed();
    clock.advance(4_999);
    expect(pass(positionOf(3))).toBe(true);
    clock.advance(1);
    expect(pass(positionOf(4))).toBe(false);
    expect((await readStore.checkpoint('counters', 1))?.position).toBe(positionOf(2));
    await log.append('other-1', [elsewhere(), elsewhere(), elsewhere()], 'any');
    await until(async () => (await readStore.checkpoint('counters', 1))?.position === positionOf(5));
    await until(() => pass(positionOf(6)));
    await projecting.stop();
  });

  it('does not move while it is held', async () => {
    const { log, pass } = toldByHand();
    const view = viewOver(log, new MemoryReadStore());
    await view.open(new Map(Array.from({ length: 8 }, (_, slice) => [slice, 1])));
    const [holding, letGo] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const held = view.live?.hold(async () => {
      holding.resolve();
      await letGo.promise;
    });
    await holding.promise;
    expect(pass(positionOf(9))).toBe(false);
    expect(view.live?.position).toBeNull();
    letGo.resolve();
    await held;
    expect(pass(positionOf(9))).toBe(true);
    expect(view.live?.position).toBe(positionOf(9));
    await view.close();
    expect(pass(positionOf(10))).toBe(false);
  });
});

describe('a policy that is told that nothing of its types came', () => {
  it('stands behind it, but not while it reacts, and has its place recorded after a thousand times', async () => {
    const { log, pass } = toldByHand();
    const reacting = Promise.withResolvers<void>();
    let reactions = 0;
    const react = async (): Promise<void> => {
      reactions += 1;
      await reacting.promise;
    };
    const runner = await PolicyRunner.start({
      policy: { name: 'waiting', types: ['Counted'], react },
      log,
      codec: counterCodec,
      clock: systemClock,
      logger: new MemoryLogger(),
      events: new ProjectingEvents(),
      onFenced: () => undefined,
    });
    await log.append('counter-a', [counted()], 'noStream');
    await until(() => reactions === 1);
    expect(pass(positionOf(2))).toBe(false);
    expect(runner.position).toBeNull();
    reacting.resolve();
    await until(() => runner.position === positionOf(1));
    await until(() => pass(positionOf(2)));

    let times = 1;
    while (pass(positionOf(2 + times))) times += 1;

    expect(times).toBe(1_000);
    expect(runner.position).toBe(positionOf(1_001));
    await runner.stop();
  });
});
