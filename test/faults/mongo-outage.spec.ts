import { openMongoReadStore } from '@app/read-store';
import { until } from '../fixtures/until';
import { lasting, openMongoCounters, startPacedWriter, timed } from './mongo/mongo-counters';
import { awayMs } from './log/rounds';
import { isInstalled, MongoProcess } from './mongo/server-process';
import { type CounterStores, expectViewIsFold } from './projecting/counter-stores';

const UNAVAILABLE = { status: 'rejected', reason: { name: 'Unavailable', dependency: 'views' } };
const READ_MS = 5_000;
const HEALTH_MS = 2_500;

/** Faults 23 and 14: MongoDB is killed or stands still while events are appended and the view follows. */
const outages = () => {
  let server: MongoProcess;
  let stores: CounterStores;
  let stopWriter: () => Promise<void>;

  beforeEach(async () => {
    server = await MongoProcess.start();
    stores = await openMongoCounters(server.url);
    await stores.projecting.start();
    stopWriter = startPacedWriter(stores.log);
    await until(async () => (await stores.readStore.count('counters')) > 10);
  });
  afterEach(async () => {
    await stopWriter();
    await stores.close();
    await server.remove();
  });

  it.each([1_000, awayMs(30)])(
    'for %d ms, events are taken, reads and health say that it is away, and then the view is the log again',
    async (milliseconds) => {
      await server.kill();
      const head = await stores.log.head();
      const [read, found, health] = await Promise.all([
        timed(() => stores.readStore.get('counters', 'counter-1')),
        timed(() => stores.readStore.readState('any')),
        timed(() => stores.readStore.health()),
      ]);
      await lasting(milliseconds);
      expect((await stores.log.head()) ?? '').not.toBe(head);
      await server.start();
      await stopWriter();
      await expectViewIsFold(stores);

      expect([read.outcome, found.outcome]).toMatchObject([UNAVAILABLE, UNAVAILABLE]);
      expect(health.outcome).toMatchObject({ value: { ok: false, reason: expect.stringMatching(/^MongoDB /) } });
      expect([read.milliseconds < READ_MS, found.milliseconds < READ_MS, health.milliseconds < HEALTH_MS]).toEqual([
        true,
        true,
        true,
      ]);
      expect(await stores.readStore.health()).toEqual({ ok: true });
    },
    60_000 + awayMs(30),
  );

  it('stands still and goes on: reads end in time, and nothing is lost or doubled', async () => {
    server.pause();
    const [read, health] = await Promise.all([
      timed(() => stores.readStore.get('counters', 'counter-1')),
      timed(() => stores.readStore.health()),
    ]);
    await lasting(10_000);
    server.goOn();
    await stopWriter();
    await expectViewIsFold(stores);

    expect(read.outcome).toMatchObject(UNAVAILABLE);
    expect(health.outcome).toMatchObject({ value: { ok: false } });
    expect([read.milliseconds < READ_MS, health.milliseconds < HEALTH_MS]).toEqual([true, true]);
  });

  it('is killed again and again while the view follows and another build is made', async () => {
    await stores.projecting.rebuild('counters').start({ swap: true });
    for (let round = 0; round < 5; round += 1) {
      await server.kill();
      await server.start();
      await lasting(200 * round);
    }
    await stopWriter();
    await expectViewIsFold(stores);
  });

  it('is away at the start: the store does not open, and says so at once', async () => {
    await server.kill();
    const opening = await timed(() => openMongoReadStore({ url: server.url }));
    expect(opening.outcome).toMatchObject(UNAVAILABLE);
    expect(opening.milliseconds).toBeLessThan(READ_MS);
    await server.start();
  });
};

describe('while MongoDB is away', () => {
  if (isInstalled()) outages();
  else it.todo('skipped: test/servers/mongodb.sh install was not run');
});
