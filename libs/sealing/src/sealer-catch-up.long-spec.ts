import { type EventLog, eventMacOf, openLogReader } from '@app/event-log';
import { callHere, type Calls, type StoredEvent } from '@app/kernel';
import { SealedLog, SEAL_SECRET } from '../../../test/fixtures/sealed-log';
import { until } from '../../../test/fixtures/until';
import { type EventHasher, eventHasher, hashedEvent, hashedEvents } from './event-hasher';
import { isSealable, SEAL_STREAM } from './event-hash';
import { sealedEvents, sealHash, headOf } from './seal';
import { sealOf } from './sealed-place';
import type { Sealer } from './sealer';
import { eventHashers } from './spawn-event-hasher';
import { verifyLog } from './verify/verify-stores';

const STREAMS = 7;
const EACH = 1_000;

let test: SealedLog;
let sealer: Sealer | undefined;
/** Pages that were asked of the thread. */
let pages = 0;
beforeEach(async () => {
  pages = 0;
  test = await SealedLog.open();
  for (let stream = 0; stream < STREAMS; stream += 1)
    await test.notes(
      `document-${stream}`,
      Array.from({ length: EACH }, (_, index) => `note ${index}`),
    );
});
afterEach(async () => {
  await sealer?.stop();
  sealer = undefined;
  await test.close();
  test.remove();
});

/** What the thread does, in this one. */
const hashersHere =
  (before: () => Promise<void> = async () => undefined) =>
  (): Calls<EventHasher> => {
    const opened = openLogReader({ DATA_DIR: test.folder, EVENTSTORE_URL: undefined }, undefined);
    return callHere<EventHasher>({
      page: async (after, limit) => {
        pages += 1;
        await before();
        return eventHasher(await opened, eventMacOf(SEAL_SECRET)).page(after, limit);
      },
      close: () => void opened.then((log) => log.close()),
    });
  };

const seals = async () => (await test.log.readStream(SEAL_STREAM)).map(sealOf);
const expectAllSealedOnce = async (left: (event: StoredEvent) => boolean = () => false) => {
  const all = await seals();
  const own = (await test.events()).filter((event) => isSealable(event) && !left(event)).map(({ id }) => id);
  expect(all.flatMap(sealedEvents).map(({ id }) => id)).toEqual(own);
  expect(all.slice(1).map(({ previous }) => previous)).toEqual(all.slice(0, -1).map((seal) => sealHash(headOf(seal))));
  expect(Math.max(...all.map((seal) => seal.events.length))).toBeLessThanOrEqual(1_000);
};

describe('a sealer with much to seal', () => {
  it('has it read and hashed in a thread, and follows the log from there', async () => {
    const threads = eventHashers({
      config: { DATA_DIR: test.folder, EVENTSTORE_URL: undefined },
      sealSecret: SEAL_SECRET,
    });
    let started = 0;
    sealer = test.newSealer({ hashers: () => ((started += 1), (threads as () => Calls<EventHasher>)()) });
    await sealer.start();
    await sealer.caughtUp;
    await until(() => sealer?.ordinal === STREAMS * EACH);
    await test.note('document-1', 'behind');
    await until(() => sealer?.ordinal === STREAMS * EACH + 1);
    expect(started).toBe(1);
    await expectAllSealedOnce();
    expect(await verifyLog(test.log, { publicKeys: [test.key.publicKey] })).toMatchObject({ ok: true });
  });

  it('seals what is appended meanwhile', async () => {
    sealer = test.newSealer({ hashers: hashersHere() });
    await sealer.start();
    await until(() => pages > 0);
    for (let round = 0; round < 30; round += 1) await test.note('document-2', `meanwhile ${round}`);
    await until(() => sealer?.ordinal === STREAMS * EACH + 30);
    await expectAllSealedOnce();
  });

  it('stops after the page in hand, and the next one goes on', async () => {
    sealer = test.newSealer({ hashers: hashersHere() });
    await sealer.start();
    await until(() => pages > 1);
    await sealer.stop();
    expect(sealer.ordinal).toBeLessThan(STREAMS * EACH);
    await sealer.start();
    await until(() => sealer?.ordinal === STREAMS * EACH);
    await expectAllSealedOnce();
  });

  it('goes on by itself where the thread fails', async () => {
    sealer = test.newSealer({ hashers: hashersHere(() => Promise.reject(new Error('the thread ended'))) });
    await sealer.start();
    await until(() => sealer?.ordinal === STREAMS * EACH);
    expect(pages).toBeGreaterThan(0);
    await expectAllSealedOnce();
  });

  it('leaves out what nobody with the key appended', async () => {
    const forged = await test.codec.encode(
      'document-forged',
      [{ type: 'Noted', data: { text: 'forged' } }],
      {
        commandId: test.ids.next(),
        correlationId: test.ids.next(),
        actor: 'user:x',
        now: test.clock.now(),
      },
      {},
    );
    await (Object.getPrototypeOf(test.log) as EventLog).append.call(test.log, 'document-forged', forged, 'noStream');
    await test.note('document-1', 'behind');
    sealer = test.newSealer({ hashers: hashersHere() });
    await sealer.start();
    await until(() => sealer?.ordinal === STREAMS * EACH + 2);
    await expectAllSealedOnce(({ stream }) => stream === 'document-forged');
    expect((await test.log.readStream('unproven-1')).map(({ type }) => type)).toEqual(['UnprovenEventsFound']);
  });
});

describe('a page of hashed events', () => {
  it('says of each what it is, over a message too', async () => {
    const reader = await openLogReader({ DATA_DIR: test.folder, EVENTSTORE_URL: undefined }, undefined);
    const mac = eventMacOf(SEAL_SECRET);
    const page = structuredClone(await eventHasher(reader, mac).page(null, 5));
    const { events } = await reader.readAll({ limit: 5 });
    expect(hashedEvents(page)).toEqual(events.map((event) => hashedEvent(event, mac)));
    expect(page).toMatchObject({ next: events.at(-1)?.position, end: false });
    await reader.close();
  });
});
