import { Unavailable } from '@app/kernel';
import { counted, counters, elsewhere, memoryProjecting, opened, stored } from '../../../test/fixtures/counters';
import { FixedClock } from '../../../test/fixtures/fixed-clock';
import { positionOf } from '../../../test/fixtures/memory-log';
import { until } from '../../../test/fixtures/until';

const LONG = 10_000;

describe('Projecting', () => {
  it('shows what was appended before and after the start', async () => {
    const { log, readStore, projecting } = memoryProjecting();
    await log.append('counter-a', [opened('a'), counted(2)], 'noStream');
    await projecting.start();
    const { position } = await log.append('counter-a', [counted(3)], 1);
    expect(await projecting.waitFor('counters', position, LONG)).toBe(true);
    expect((await readStore.get('counters', 'counter-a'))?.row).toMatchObject({ name: 'a', count: 5 });
    await projecting.stop();
  });

  it('goes on from its checkpoint after a restart and applies nothing twice', async () => {
    const first = memoryProjecting();
    await first.projecting.start();
    await first.log.append('counter-a', [opened('a'), counted(2)], 'noStream');
    await first.projecting.waitFor('counters', positionOf(2), LONG);
    await first.projecting.stop();
    const second = memoryProjecting(first);
    await second.projecting.start();
    const { position } = await second.log.append('counter-a', [counted(1)], 1);
    await second.projecting.waitFor('counters', position, LONG);
    expect((await second.readStore.get('counters', 'counter-a'))?.row['count']).toBe(3);
    await second.projecting.stop();
  });

  it('says false when the view does not reach the position in time', async () => {
    const { projecting } = memoryProjecting();
    await projecting.start();
    expect(await projecting.waitFor('counters', positionOf(9), 5)).toBe(false);
    await projecting.stop();
  });

  it('has a log that gathers hand over what somebody waits for, and nothing where nobody has to wait', async () => {
    const { log, projecting } = memoryProjecting();
    const deliverNow = jest.fn();
    Object.assign(log, { deliverNow });
    await projecting.start();
    const { position } = await log.append('counter-a', [opened('a')], 'noStream');
    const shown = projecting.waitFor('counters', position, LONG);
    expect(deliverNow).toHaveBeenCalledTimes(1);
    await shown;
    await projecting.waitFor('counters', position, LONG);
    expect(deliverNow).toHaveBeenCalledTimes(1);
    await projecting.stop();
  });

  it('passes over events of other types without a commit for each', async () => {
    const { log, readStore, projecting } = memoryProjecting();
    await projecting.start();
    const before = readStore.commits.length;
    for (let index = 0; index < 50; index += 1) await log.append('other-1', [elsewhere()], 'any');
    expect(await projecting.waitFor('counters', positionOf(50), LONG)).toBe(true);
    expect(readStore.commits.length).toBe(before);
    await projecting.stop();
    expect((await readStore.checkpoint('counters', 1))?.position).toBe(positionOf(50));
  });

  it('tells lag in events and seconds', async () => {
    const clock = new FixedClock(new Date('2026-01-01T00:01:00.000Z'));
    const { log, projecting } = memoryProjecting({ clock });
    await projecting.start();
    log.deliver = () => Promise.reject(new Unavailable('log', 'held back'));
    await log.append('counter-a', [opened('a'), counted()], 'noStream');
    await log.append('other-1', [elsewhere()], 'any');
    expect(await projecting.status('counters')).toEqual({
      name: 'counters',
      version: 1,
      state: 'catching-up',
      position: null,
      head: positionOf(3),
      lagEvents: 3,
      lagSeconds: 60,
      rows: 0,
      deadLetters: 0,
    });
    log.deliver = (events, upTo, hand) => hand(events, upTo);
    await projecting.waitFor('counters', positionOf(3), LONG);
    expect(await projecting.status('counters')).toMatchObject({
      state: 'live',
      position: positionOf(3),
      lagEvents: 0,
      lagSeconds: 0,
      rows: 1,
    });
    await projecting.stop();
  });

  it('raises an alarm when the log moves and a view does not, and ends it when it moves again', async () => {
    const clock = new FixedClock();
    const { log, projecting } = memoryProjecting({ clock });
    const said: string[] = [];
    projecting.events
      .on('stalled', ({ view }) => said.push(`stalled ${view}`))
      .on('recovered', ({ view }) => said.push(`recovered ${view}`));
    await projecting.start();
    log.deliver = () => Promise.reject(new Unavailable('log', 'held back'));
    await log.append('counter-a', [opened('a')], 'noStream');
    for (const seconds of [0, 29, 2, 60]) {
      clock.advance(seconds * 1_000);
      await projecting.checkStalls();
    }
    expect(said).toEqual(['stalled counters']);
    log.deliver = (events, upTo, hand) => hand(events, upTo);
    await projecting.waitFor('counters', positionOf(1), LONG);
    await projecting.checkStalls();
    expect(said).toEqual(['stalled counters', 'recovered counters']);
    await projecting.stop();
  });

  it('waits out a store that is away, and makes no dead letter of it', async () => {
    const { log, readStore, projecting } = memoryProjecting();
    await projecting.start();
    let rejections = 3;
    readStore.beforeCommit = async () => {
      if (rejections-- > 0) throw new Unavailable('read store', 'busy');
    };
    const { position } = await log.append('counter-a', [opened('a'), counted(4)], 'noStream');
    expect(await projecting.waitFor('counters', position, LONG)).toBe(true);
    expect(await projecting.deadLetters()).toEqual([]);
    expect((await readStore.get('counters', 'counter-a'))?.row['count']).toBe(4);
    await projecting.stop();
  });

  it('finds a checkpoint again that was stored though the store did not say so', async () => {
    const clock = new FixedClock();
    const { log, readStore, projecting } = memoryProjecting({ clock });
    const commit = readStore.commit.bind(readStore);
    let failures = 0;
    projecting.events.on('failed', () => (failures += 1));
    await projecting.start();
    await log.append('counter-a', [opened('a')], 'noStream');
    await projecting.waitFor('counters', positionOf(1), LONG);
    readStore.commit = async (batch) => {
      await commit(batch);
      readStore.commit = commit;
      throw new Unavailable('views', 'away', 'unknown');
    };
    // Of no type that the view reads: only the checkpoint is stored, now and then.
    for (let events = 0; events < 4; events += 1) {
      clock.advance(6_000);
      await projecting.waitFor('counters', (await log.append('other-1', [elsewhere()], 'any')).position, LONG);
    }
    await until(async () => (await readStore.checkpoint('counters', 1))?.position === positionOf(5));
    expect(failures).toBe(2);
    await projecting.stop();
  });

  it('builds a changed projection beside the old view, serves the old one until then and drops it after', async () => {
    const first = memoryProjecting();
    await first.log.append('counter-a', [opened('a'), counted(2)], 'noStream');
    await first.projecting.start();
    await first.projecting.waitFor('counters', positionOf(2), LONG);
    await first.projecting.stop();
    const changed = { ...counters, version: 2, indexes: [] };
    const second = memoryProjecting({ ...first, projections: [changed] });
    await second.projecting.start();
    expect((await second.readStore.get('counters', 'counter-a'))?.row['count']).toBe(2);
    await until(async () => (await second.readStore.live('counters')) === 2);
    await until(async () => (await second.readStore.versions('counters')).length === 1);
    expect(await second.projecting.waitFor('counters', positionOf(2), LONG)).toBe(true);
    expect(await second.projecting.status('counters')).toMatchObject({ version: 2, state: 'live', rows: 1 });
    await second.projecting.stop();
  });

  it('notices a checkpoint ahead of the log and rebuilds', async () => {
    const first = memoryProjecting();
    await first.log.append('counter-a', [opened('a'), counted(2), counted(5)], 'noStream');
    await first.projecting.start();
    await first.projecting.waitFor('counters', positionOf(3), LONG);
    await first.projecting.stop();
    first.log.cutAfter(positionOf(2));
    const second = memoryProjecting(first);
    await second.projecting.start();
    await until(async () => (await second.readStore.live('counters')) === 2);
    expect((await second.readStore.get('counters', 'counter-a'))?.row['count']).toBe(2);
    expect(second.logger.lines.join()).toContain('ahead-of-log');
    expect(second.logger.lines.join()).toContain('or its end was cut off or removed');
    await second.projecting.stop();
  });

  it('notices another event at its place, and rebuilds', async () => {
    const first = memoryProjecting();
    await first.log.append('counter-a', [opened('a'), counted(2), counted(5)], 'noStream');
    await first.projecting.start();
    await first.projecting.waitFor('counters', positionOf(3), LONG);
    await first.projecting.stop();
    first.log.cutAfter(positionOf(2));
    await first.log.append('counter-a', [counted(1)], 1);
    const second = memoryProjecting(first);
    await second.projecting.start();
    await until(async () => (await second.readStore.get('counters', 'counter-a'))?.row['count'] === 3, 'the rebuild');
    expect(second.logger.lines.join()).toContain('restored from an older backup, or');
    await second.projecting.stop();
    const third = memoryProjecting(first);
    await third.projecting.start();
    expect(await third.projecting.waitFor('counters', positionOf(3), LONG)).toBe(true);
    expect(await third.readStore.live('counters')).toBe(2);
    await third.projecting.stop();
  });

  it('rejects an unknown view', async () => {
    const { projecting } = memoryProjecting();
    await expect(projecting.status('nothing')).rejects.toMatchObject({ code: 'not_found' });
    expect(() => projecting.rebuild('nothing')).toThrow('not_found');
  });

  it('starts with an event of a type that the catalogue does not know as a dead letter', async () => {
    const { log, projecting } = memoryProjecting();
    await projecting.start();
    const { position } = await log.append('counter-a', [stored('Unknown', {})], 'noStream');
    await projecting.waitFor('counters', position, LONG);
    expect(await projecting.deadLetters()).toMatchObject([
      { reason: 'unknown_type', stream: 'counter-a', revision: 0 },
    ]);
    await projecting.stop();
  });
});
