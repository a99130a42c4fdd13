import { counted, memoryProjecting, opened } from '../../../../test/fixtures/counters';
import { MemoryCoordinationStore } from '../../../../test/fixtures/memory-coordination-store';
import { MemoryLog } from '../../../../test/fixtures/memory-log';
import { MemoryReadStore } from '../../../../test/fixtures/memory-read-store';
import { sharedCounters, sharedProjector } from '../../../../test/fixtures/shared-projector';
import { until } from '../../../../test/fixtures/until';

const LONG = 10_000;

describe('what a view does not show', () => {
  it('is not there once the view shows the whole log', async () => {
    const { projecting, log } = memoryProjecting();
    await projecting.start();
    const { position } = await log.append('counter-a', [opened('a')], 'noStream');
    expect(await projecting.gap('counters', position, LONG)).toBeUndefined();
    await projecting.stop();
  });

  it('may be there while the view is behind, and while an event waits as a dead letter', async () => {
    const { projecting, log } = memoryProjecting();
    await projecting.start();
    const { position } = await log.append('counter-a', [opened('a'), counted(13)], 'noStream');
    expect(await projecting.gap('counters', position, LONG)).toEqual({
      reason: 'it has dead letters (1): retry or discard them first',
      passes: false,
    });
    expect(await projecting.gap('counters', `${position}0`, 1)).toEqual({
      reason: 'it is behind the log',
      passes: true,
    });
    const [letter] = await projecting.deadLetters();
    await projecting.discardDeadLetter(letter?.id ?? '');
    expect(await projecting.gap('counters', position, LONG)).toBeUndefined();
    await projecting.stop();
  });

  it('may be there while the view is served as another version of the program declares it', async () => {
    const [log, readStore, coordination] = [new MemoryLog(), new MemoryReadStore(), new MemoryCoordinationStore()];
    const older = sharedProjector({ name: 'older', log, readStore, coordination });
    const newer = sharedProjector({
      name: 'newer',
      log,
      readStore,
      coordination,
      projection: { ...sharedCounters, version: 2 },
    });
    await older.start();
    const { position } = await log.append('counter-a', [opened('a')], 'noStream');
    expect(await older.projecting.gap('counters', position, LONG)).toBeUndefined();
    expect(await newer.projecting.gap('counters', position, LONG)).toEqual({
      reason: 'it was built for another version of the program, or before the log was restored from a backup',
      passes: true,
    });
    await older.stop();
  });

  it('is told of builds beside the served one, too', async () => {
    const { projecting, log } = memoryProjecting();
    await projecting.start();
    const { position } = await log.append('counter-a', [opened('a')], 'noStream');
    await projecting.waitFor('counters', position, LONG);
    await projecting.rebuild('counters').start({ swap: false });
    await until(async () => (await projecting.rebuild('counters').status())?.state === 'ready');
    const next = await log.append('counter-a', [counted(13)], 'any');
    await until(() => projecting.buildsReached('counters', next.position));
    expect((await projecting.lettersOfBuilds()).map(({ stream }) => stream)).toEqual(['counter-a', 'counter-a']);
    await projecting.stop();
  });
});
