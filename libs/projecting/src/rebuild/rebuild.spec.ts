import { Unavailable } from '@app/kernel';
import { counted, counters, memoryProjecting, opened } from '../../../../test/fixtures/counters';
import { positionOf } from '../../../../test/fixtures/memory-log';
import { until } from '../../../../test/fixtures/until';

const LONG = 10_000;

const running = async (given: Parameters<typeof memoryProjecting>[0] = {}) => {
  const all = memoryProjecting(given);
  await all.projecting.start();
  const rebuild = all.projecting.rebuild('counters');
  const reaches = (state: string): Promise<void> => until(async () => (await rebuild.status())?.state === state);
  const fill = async (streams = 20): Promise<void> => {
    for (let index = 0; index < streams; index += 1)
      await all.log.append(`counter-${index}`, [opened(`n${index}`), counted(index === 13 ? 1 : index)], 'noStream');
    await all.projecting.waitFor('counters', (await all.log.head()) ?? '', LONG);
  };
  return { ...all, rebuild, reaches, fill };
};

describe('a rebuild', () => {
  it('builds beside the live view, verifies, swaps, rolls back and retires', async () => {
    const { projecting, readStore, log, rebuild, reaches, fill } = await running();
    await fill();
    await rebuild.start({ swap: false });
    await reaches('ready');
    expect(await readStore.live('counters')).toBe(1);
    expect(await rebuild.status()).toMatchObject({
      version: 2,
      done: 40,
      total: 40,
      etaSeconds: 0,
      verification: { equal: true, rows: 20, liveRows: 20, differences: 0, listed: [] },
    });
    expect((await rebuild.status())?.verification?.checksum).toBe((await rebuild.status())?.verification?.liveChecksum);
    expect(readStore.text('counters', 2)).toBe(readStore.text('counters', 1));
    await rebuild.swap();
    expect(await projecting.status('counters')).toMatchObject({
      version: 2,
      state: 'live',
      rebuild: { state: 'swapped' },
    });
    const { position } = await log.append('counter-0', [counted(7)], 'any');
    await projecting.waitFor('counters', position, LONG);
    await rebuild.rollback();
    expect((await readStore.get('counters', 'counter-0'))?.row['count']).toBe(7);
    expect(await readStore.live('counters')).toBe(1);
    await rebuild.swap();
    await rebuild.retire();
    expect(await readStore.versions('counters')).toEqual([2]);
    expect(await rebuild.status()).toBeUndefined();
    await projecting.stop();
  });

  it('gives byte-equal rows each time', async () => {
    const { projecting, readStore, rebuild, fill } = await running();
    await fill();
    for (const version of [2, 3]) {
      await rebuild.start({ swap: true });
      await until(
        async () => (await readStore.live('counters')) === version && (await rebuild.status())?.state === 'swapped',
      );
      expect(readStore.text('counters', version)).toBe(readStore.text('counters', version - 1));
      await rebuild.retire();
    }
    await projecting.stop();
  });

  it('lists what differs, and swaps only when told to', async () => {
    const { projecting, readStore, rebuild, reaches, fill } = await running();
    await fill(5);
    const live = readStore.builds.get('counters/1');
    live?.rows.delete('counter-1');
    live?.rows.set('counter-2', {
      key: 'counter-2',
      position: positionOf(1),
      row: { name: 'n2', count: 99 },
      size: 24,
    });
    live?.rows.set('counter-9', { key: 'counter-9', position: positionOf(1), row: { name: 'n9', count: 0 }, size: 23 });
    await rebuild.start({ swap: true });
    await reaches('ready');
    expect((await rebuild.status())?.verification).toMatchObject({
      equal: false,
      differences: 3,
      listed: [
        { key: 'counter-1', difference: 'extra' },
        { key: 'counter-2', difference: 'changed' },
        { key: 'counter-9', difference: 'missing' },
      ],
    });
    expect(await readStore.live('counters')).toBe(1);
    await rebuild.swap();
    expect((await readStore.get('counters', 'counter-2'))?.row['count']).toBe(2);
    await projecting.stop();
  });

  it('stops at a poisonous event, says which, and goes on once it was discarded', async () => {
    const { projecting, log, readStore, rebuild, reaches, fill } = await running();
    await fill(3);
    const { position } = await log.append('counter-0', [counted(13), counted(4)], 'any');
    await projecting.waitFor('counters', position, LONG);
    await rebuild.start({ swap: true });
    await reaches('failed');
    const [letter] = await projecting.deadLetters();
    expect((await rebuild.status())?.failure).toMatchObject({
      reason: 'apply',
      event: { id: letter?.eventId, type: 'Counted', stream: 'counter-0', revision: 2 },
    });
    await projecting.discardDeadLetter(letter?.id ?? '');
    await rebuild.resume();
    await reaches('swapped');
    expect((await readStore.get('counters', 'counter-0'))?.row['count']).toBe(4);
    await projecting.stop();
  });

  it('pauses, goes on in another process, and can be cancelled', async () => {
    const first = await running();
    await first.fill(3);
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    first.readStore.beforeCommit = async ({ version }) => (version === 2 ? gate : undefined);
    await first.rebuild.start({ swap: false });
    const pausing = first.rebuild.pause();
    release();
    await pausing;
    expect(await first.projecting.status('counters')).toMatchObject({
      state: 'paused',
      rebuild: { state: 'paused', version: 2 },
    });
    await first.projecting.stop();

    const second = await running({ log: first.log, readStore: first.readStore });
    expect(await second.rebuild.status()).toMatchObject({ state: 'paused', version: 2 });
    await second.rebuild.resume();
    await second.reaches('ready');
    await second.rebuild.cancel();
    expect(await second.readStore.versions('counters')).toEqual([1]);
    expect(await second.rebuild.status()).toBeUndefined();
    await second.projecting.stop();
  });

  it('gives up what a paused build holds when told to start over, and begins anew when resumed', async () => {
    const { projecting, readStore, rebuild, reaches, fill } = await running();
    await fill(3);
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    readStore.beforeCommit = async ({ version }) => (version === 2 ? gate : undefined);
    await rebuild.start({ swap: false });
    const pausing = rebuild.pause();
    release();
    await pausing;
    await rebuild.startOver();
    expect(await rebuild.status()).toMatchObject({ state: 'paused', version: 3, done: 0 });
    expect(await readStore.versions('counters')).toEqual([1, 3]);
    await rebuild.resume();
    await reaches('ready');
    expect(readStore.text('counters', 3)).toBe(readStore.text('counters', 1));
    await projecting.stop();
  });

  it('goes on by itself after the process died in it', async () => {
    const first = await running();
    await first.fill(3);
    let hanging = 0;
    first.readStore.beforeCommit = async ({ version, fence }) => {
      hanging ||= version === 2 ? fence : 0;
      if (fence === hanging) await new Promise(() => undefined);
    };
    await first.rebuild.start({ swap: true });
    await until(() => hanging > 0);
    const second = await running({ log: first.log, readStore: first.readStore });
    await second.reaches('swapped');
    expect(second.readStore.text('counters', 2)).toBe(second.readStore.text('counters', 1));
    await second.projecting.stop();
  });

  it('is swapped as it was asked to be, though the process died between verification and swap, and not again after a rollback', async () => {
    const first = await running();
    await first.fill(3);
    const swap = first.readStore.swap;
    first.readStore.swap = async () => new Promise(() => undefined);
    await first.rebuild.start({ swap: true });
    await first.reaches('ready');
    first.readStore.swap = swap;
    const second = await running({ log: first.log, readStore: first.readStore });
    await second.reaches('swapped');
    expect(await second.readStore.live('counters')).toBe(2);
    await second.rebuild.rollback();
    await second.projecting.stop();
    const third = await running({ log: first.log, readStore: first.readStore });
    await third.projecting.waitFor('counters', (await third.log.head()) ?? '', LONG);
    expect([(await third.rebuild.status())?.state, await third.readStore.live('counters')]).toEqual(['ready', 1]);
    await third.rebuild.swap();
    expect(await third.readStore.live('counters')).toBe(2);
    await third.projecting.stop();
  });

  it.each([true, false])(
    'is served though the answer of the store was lost (asked for with the rebuild: %s), and what is served is never dropped',
    async (asked) => {
      const { projecting, readStore, rebuild, reaches, fill } = await running();
      await fill(3);
      const swap = readStore.swap.bind(readStore);
      let lost = 0;
      readStore.swap = async (...given) => {
        const swapped = await swap(...given);
        if ((lost += 1) > 1) return swapped;
        throw new Unavailable('views', 'no answer', 'unknown');
      };
      await rebuild.start({ swap: asked });
      if (!asked) {
        await reaches('ready');
        await expect(rebuild.swap()).rejects.toMatchObject({ name: 'Unavailable' });
        await expect(rebuild.cancel()).rejects.toMatchObject({ code: 'conflict' });
        expect(await readStore.versions('counters')).toEqual([1, 2]);
        await rebuild.swap();
      }
      await reaches('swapped');
      expect(await readStore.live('counters')).toBe(2);
      await rebuild.retire();
      expect(await readStore.versions('counters')).toEqual([2]);
      await projecting.stop();
    },
  );

  it('rejects what its state does not allow', async () => {
    const { projecting, rebuild, reaches } = await running();
    await expect(rebuild.swap()).rejects.toMatchObject({ code: 'no_rebuild' });
    await rebuild.start({ swap: false });
    await reaches('ready');
    await expect(rebuild.start({ swap: false })).rejects.toMatchObject({ code: 'rebuild_exists' });
    await expect(rebuild.retire()).rejects.toMatchObject({ code: 'rebuild_not_ready' });
    await expect(rebuild.resume()).rejects.toMatchObject({ code: 'rebuild_not_ready' });
    await projecting.stop();
  });

  it('of an empty log, and of one event, is equal too', async () => {
    const { projecting, log, rebuild, reaches } = await running();
    await rebuild.start({ swap: false });
    await reaches('ready');
    expect(await rebuild.status()).toMatchObject({ done: 0, total: 0, verification: { equal: true, rows: 0 } });
    await rebuild.cancel();
    await log.append('counter-a', [opened('a')], 'noStream');
    await projecting.waitFor('counters', positionOf(1), LONG);
    await rebuild.start({ swap: false });
    await reaches('ready');
    expect(await rebuild.status()).toMatchObject({ done: 1, verification: { equal: true, rows: 1 } });
    await projecting.stop();
  });

  it('begins again when the projection changes under it', async () => {
    const first = await running();
    await first.fill(3);
    await first.rebuild.start({ swap: false });
    await first.reaches('ready');
    await first.projecting.stop();
    const second = await running({
      log: first.log,
      readStore: first.readStore,
      projections: [{ ...counters, version: 2 }],
    });
    await until(
      async () =>
        (await second.readStore.versions('counters')).length === 1 && (await second.rebuild.status()) === undefined,
    );
    expect(await second.readStore.live('counters')).toBeGreaterThan(1);
    await second.projecting.stop();
  });
});
