import type { StoredEvent } from '@app/kernel';
import { SealedLog } from '../../../test/fixtures/sealed-log';
import { verifyProof } from '../../../test/fixtures/verify-proof';
import { proofOf } from './proof';
import { isSealable } from './event-hash';
import { type Seal, sealHash } from './seal';
import { SealArchive } from './seal-archive';
import { sealKeyOf } from './seal-key';
import { SealedOrdinals } from './sealed-ordinals';
import { readSealedPlace } from './sealed-place';

describe('what the seals say', () => {
  let test: SealedLog;
  let archive: SealArchive;
  let ordinals: SealedOrdinals;

  /** 3,300 events under five seals, then 40 without. */
  beforeAll(async () => {
    test = await SealedLog.open();
    for (const count of [1, 2, 1_297, 2_000]) {
      for (let left = count; left > 0; left -= 500)
        await test.notes(
          `document-${count}`,
          Array.from({ length: Math.min(left, 500) }, (_, index) => String(index)),
        );
      await test.seal();
    }
    await test.notes(
      'document-40',
      Array.from({ length: 40 }, (_, index) => String(index)),
    );
    archive = new SealArchive(test.log);
    ordinals = new SealedOrdinals(test.log, archive);
  });
  afterAll(async () => {
    await test.close();
    test.remove();
  });

  it('counts every event of ours up to a position, in whatever order it is asked', async () => {
    const own = (await test.events()).filter(isSealable);
    for (const ordinal of [3_340, 1, 1_700, 3_300, 3_301, 2, 3, 4, 1_300, 1_301, 2_500])
      expect(await ordinals.ordinalAt(own[ordinal - 1]?.position ?? '')).toBe(ordinal);
    expect(await ordinals.head()).toBe(3_340);
    expect(await new SealedOrdinals(test.log, archive).ordinalAt(own[3_320]?.position ?? '')).toBe(3_321);
  });

  it('gives sealed events their ordinals, and others none', async () => {
    const own = (await test.events()).filter(isSealable);
    const asked = [own[0], own[1_299], own[1_300], own[3_299], own[3_300]].flatMap((event) => event ?? []);
    expect([...(await ordinals.of(asked)).values()]).toEqual([1, 1_300, 1_301, 3_300]);
  });

  it('lists the seals after an ordinal', async () => {
    const all = await archive.after(0, 100);
    expect(all.slice(0, 2).map(({ ordinal }) => ordinal)).toEqual([1, 3]);
    expect(all.map(({ ordinal }) => ordinal + 1).slice(0, -1)).toEqual(
      all.map(({ fromOrdinal }) => fromOrdinal).slice(1),
    );
    expect(all.at(-1)?.ordinal).toBe(3_300);
    expect(await archive.after(3, 2)).toEqual(all.slice(2, 4));
    expect(await archive.after(2, 1)).toEqual(all.slice(1, 2));
    expect(await archive.after(3_300, 10)).toEqual([]);
    expect(all[2]?.previous).toBe(sealHash(all[1] as Seal));
  });

  it('proves one event against its seal, and nothing else', async () => {
    const own = (await test.events()).filter(isSealable);
    for (const ordinal of [1, 2, 3, 777, 1_300, 3_300]) {
      const event = own[ordinal - 1] as StoredEvent;
      const archived = await ordinals.over(event);
      expect(archived).toEqual(await archive.overId(event.id));
      const proof = archived === undefined ? undefined : proofOf(archived, event.id);
      if (proof === undefined) throw new Error('no proof');
      expect(proof.ordinal).toBe(ordinal);
      const { publicKey } = test.key;
      expect(verifyProof(proof, event, publicKey)).toBe(true);
      expect(verifyProof(JSON.parse(JSON.stringify(proof)) as typeof proof, event, publicKey)).toBe(true);
      expect(verifyProof(proof, { ...event, data: `${event.data} ` }, publicKey)).toBe(false);
      expect(verifyProof(proof, { ...event, revision: event.revision + 1 }, publicKey)).toBe(false);
      expect(verifyProof({ ...proof, ordinal: ordinal + 1 }, event, publicKey)).toBe(false);
      expect(verifyProof({ ...proof, seal: { ...proof.seal, at: '2027-01-01T00:00:00.000Z' } }, event, publicKey)).toBe(
        false,
      );
      expect(verifyProof(proof, event, sealKeyOf('the secret of somebody else, long enough').publicKey)).toBe(false);
    }
    expect(await archive.overId(own[3_320]?.id ?? '')).toBeUndefined();
  });

  it('keeps ordinals when events before them are removed', async () => {
    const own = (await test.events()).filter(isSealable);
    await test.log.delete('document-1297', 'any');
    const fresh = new SealedOrdinals(test.log, new SealArchive(test.log));
    expect(await fresh.head()).toBe(3_340);
    expect(await fresh.ordinalAt(own[3_304]?.position ?? '')).toBe(3_305);
    expect(await fresh.of([own[2_000] as StoredEvent])).toEqual(new Map([[own[2_000]?.id, 2_001]]));
  });
});

describe('a log that is long and not sealed', () => {
  const LATE = 6_000;
  let test: SealedLog;
  let read: number;
  const ordinals = (): SealedOrdinals => new SealedOrdinals(test.log, new SealArchive(test.log));

  beforeEach(async () => {
    test = await SealedLog.open();
    await test.notes('document-early', ['a', 'b', 'c']);
    await test.seal();
    for (let part = 0; part < LATE / 500; part += 1)
      await test.notes(
        `document-${part}`,
        Array.from({ length: 500 }, (_, index) => String(index)),
      );
    read = 0;
    const readAll = test.log.readAll.bind(test.log);
    test.log.readAll = async (options) => {
      const page = await readAll(options);
      read += page.events.length;
      return page;
    };
  });
  afterEach(async () => {
    await test.close();
    test.remove();
  });

  it('has no ordinals far behind the last seal, rather than ones that cost as much as is asked about', async () => {
    const own = (await test.events()).filter(isSealable);
    read = 0;
    expect(await ordinals().head()).toBeNull();
    expect(await ordinals().ordinalAt(own[5_000]?.position ?? '')).toBeNull();
    expect(await ordinals().ordinalAt(own[400]?.position ?? '')).toBe(401);
    expect(read).toBeLessThanOrEqual(3 * 1_000);
  });

  it('has all ordinals once it was sealed, though the seals stand far behind their events', async () => {
    await test.seal();
    const own = (await test.events()).filter(isSealable);
    const tested = ordinals();
    read = 0;
    for (const ordinal of [1, 3, 4, 999, 1_003, 1_004, 3_456, 5_999, LATE + 3]) {
      const event = own[ordinal - 1] as StoredEvent;
      expect(await tested.ordinalAt(event.position)).toBe(ordinal);
      expect(await tested.of([event])).toEqual(new Map([[event.id, ordinal]]));
    }
    expect(read).toBeLessThan(1_000);
  });

  it('begins to be sealed where the seals end, without reading all that waits', async () => {
    const { position } = await readSealedPlace(test.log);
    expect(position).toBe((await test.log.readStream('document-early')).at(-1)?.position);
    expect(read).toBeLessThan(1_000);
  });
});
