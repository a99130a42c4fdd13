import { type EventLog } from '@app/event-log';
import { Unavailable } from '@app/kernel';
import { SealedLog, SEAL_SECRET } from '../../../test/fixtures/sealed-log';
import { until } from '../../../test/fixtures/until';
import { contentHash, isSealable, leafHash, SEAL_STREAM } from './event-hash';
import { EventProofs } from './event-proofs';
import { merkleRoot } from './merkle';
import { headOf, NO_SEAL, sealedEvents, sealHash, signedText } from './seal';
import { SealArchive } from './seal-archive';
import { isSignedBy, publicKeyOf, sealKeyOf } from './seal-key';
import { sealOf } from './sealed-place';

describe('Sealer', () => {
  let test: SealedLog;
  beforeEach(async () => {
    test = await SealedLog.open();
  });
  afterEach(async () => {
    await test.close();
    test.remove();
  });

  const seals = async (log: EventLog = test.log) => (await log.readStream(SEAL_STREAM)).map(sealOf);
  const sealedIds = async () => (await seals()).flatMap(sealedEvents).map(({ id }) => id);
  const ownIds = async () => (await test.events()).filter(isSealable).map(({ id }) => id);

  it('numbers every event of ours in log order and signs their hashes', async () => {
    await test.note('document-1', 'a', 'b');
    await test.note('document-2', 'c');
    await test.seal();
    const [seal] = await seals();
    expect(seal).toMatchObject({ fromOrdinal: 1, ordinal: 3, previous: NO_SEAL, keyId: test.key.keyId });
    const events = (await test.events()).filter(isSealable).map((event) => ({ ...event, content: contentHash(event) }));
    expect(seal === undefined ? [] : sealedEvents(seal)).toEqual(
      events.map(({ id, stream, revision, content }) => ({ id, stream, revision, content })),
    );
    expect(seal?.root).toBe(merkleRoot(events.map(leafHash)).toString('hex'));
    expect(seal && isSignedBy(publicKeyOf(test.key.publicKey), signedText(seal), seal.signature)).toBe(true);
  });

  it('binds each seal to the one before, also over restarts, and repeats nothing', async () => {
    for (const text of ['a', 'b', 'c']) {
      await test.note('document-1', text);
      await test.seal();
    }
    const all = await seals();
    expect(all.map(({ fromOrdinal, ordinal }) => [fromOrdinal, ordinal])).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
    expect(all.slice(1).map(({ previous }) => previous)).toEqual(all.slice(0, 2).map((seal) => sealHash(headOf(seal))));
    expect(await sealedIds()).toEqual(await ownIds());
  });

  it('seals in stretches of at most a thousand', async () => {
    for (let count = 0; count < 6; count += 1)
      await test.notes(
        `document-${count}`,
        Array.from({ length: 400 }, (_, index) => `note ${index}`),
      );
    await test.seal();
    const sizes = (await seals()).map((seal) => seal.events.length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1_000);
    expect(sizes.length).toBeGreaterThanOrEqual(3);
    expect(await sealedIds()).toEqual(await ownIds());
  });

  it('seals what arrives while it runs, without being asked', async () => {
    const sealer = test.newSealer({ delayMs: 20 });
    await sealer.start();
    await test.note('document-1', 'a');
    await until(() => sealer.ordinal === 1);
    await test.note('document-1', 'b');
    await until(() => sealer.ordinal === 2);
    await sealer.stop();
    expect(await sealedIds()).toEqual(await ownIds());
  });

  it('goes on after the last event that still stands when sealed ones were removed', async () => {
    await test.note('document-1', 'a');
    await test.note('document-2', 'b', 'c');
    await test.seal();
    await test.log.delete('document-2', 'any');
    await test.note('document-3', 'd');
    await test.seal();
    expect((await seals()).map(({ ordinal }) => ordinal)).toEqual([3, 4]);
    await test.log.delete('document-1', 'any');
    await test.log.delete('document-3', 'any');
    await test.note('document-4', 'e');
    await test.seal();
    expect((await seals()).map(({ ordinal }) => ordinal)).toEqual([3, 4, 5]);
  });

  it('never seals an event twice when two sealers run', async () => {
    const sealers = [test.newSealer(), test.newSealer()];
    await Promise.all(sealers.map((sealer) => sealer.start()));
    for (let count = 0; count < 60; count += 1) await test.note(`document-${count % 7}`, `note ${count}`);
    await until(() => sealers.some((sealer) => sealer.ordinal === 60));
    await Promise.all(sealers.map((sealer) => sealer.stop()));
    expect(await sealedIds()).toEqual(await ownIds());
    const all = await seals();
    expect(all.slice(1).map(({ previous }) => previous)).toEqual(
      all.slice(0, -1).map((seal) => sealHash(headOf(seal))),
    );
  });

  it('takes what another sealer has just sealed for itself, and only what stands elsewhere for a copy', async () => {
    await test.note('document-1', 'a');
    const [event] = (await test.events()).filter(isSealable);
    if (event === undefined) throw new Error('nothing was noted');
    await test.seal();
    const proofs = () => new EventProofs(new SealArchive(test.log), 0);
    const waiting = () => false;
    expect(await proofs().of(event, 'proven', waiting)).toBe('proven');
    expect(await proofs().of({ ...event, revision: event.revision + 1 }, 'unplaced', waiting)).toBe('repeated');
  });

  it('seals once although the log did not answer, whether it had written or not', async () => {
    const real = test.log;
    const outcomes = ['lost before', 'lost after', 'lost after', 'lost before'];
    const deaf = new Proxy(real, {
      get: (target, name: keyof EventLog) => {
        const value = target[name];
        if (name !== 'append') return typeof value === 'function' ? value.bind(target) : value;
        return async (...given: Parameters<EventLog['append']>) => {
          const outcome = outcomes.shift();
          if (outcome === 'lost after') await real.append(...given);
          if (outcome !== undefined) throw new Unavailable('event log', 'no answer', 'unknown');
          return real.append(...given);
        };
      },
    });
    await test.note('document-1', 'a', 'b');
    test.log = deaf;
    const sealer = test.newSealer();
    await sealer.start();
    await until(() => sealer.ordinal === 2);
    test.log = real;
    await test.note('document-1', 'c');
    test.log = deaf;
    await until(() => sealer.ordinal === 3);
    await sealer.stop();
    test.log = real;
    expect(await sealedIds()).toEqual(await ownIds());
  });

  it('ends for good when told to while the log cannot be written', async () => {
    const real = test.log;
    const attempts = { begun: 0, released: Promise.withResolvers<void>() };
    test.log = new Proxy(real, {
      get: (target, property: keyof EventLog) => {
        if (property !== 'append') return target[property];
        return async () => {
          attempts.begun += 1;
          await attempts.released.promise;
          throw new Unavailable('event log', 'no answer');
        };
      },
    });
    const sealer = test.newSealer();
    await sealer.start();
    test.log = real;
    await test.note('document-1', 'a');
    await until(() => attempts.begun > 0);
    const stopping = sealer.stop();
    attempts.released.resolve();
    await stopping;
    const { begun } = attempts;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(attempts.begun).toBe(begun);
    await test.seal();
    expect(await sealedIds()).toEqual(await ownIds());
  });

  it('keeps its secret out of the log', async () => {
    await test.note('document-1', 'a');
    await test.seal();
    const text = JSON.stringify(await test.events());
    expect(text).toContain(test.key.keyId);
    expect(text).not.toContain(SEAL_SECRET);
    expect(text).not.toContain(Buffer.from(SEAL_SECRET).toString('base64url'));
    expect(sealKeyOf(SEAL_SECRET).publicKey).toBe(test.key.publicKey);
    expect(sealKeyOf(`${SEAL_SECRET}.`).publicKey).not.toBe(test.key.publicKey);
  });
});
