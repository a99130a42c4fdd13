import type { FixedClock } from '../../../test/fixtures/fixed-clock';
import type { KeyRecord, Vault } from './vault';

export interface VaultUnderTest {
  /** Opens another, empty vault under the same `VAULT_KEY`, or under the one given. */
  openOther(wrappingKey?: string): Promise<Vault>;
  /** Opens the vault again, as another process or after a restart would; the first stays open. */
  open(): Promise<Vault>;
  readonly clock: FixedClock;
  end(): Promise<void>;
}

/** What every vault must hold. */
export const vaultContract = (start: () => Promise<VaultUnderTest>): void => {
  let test: VaultUnderTest;
  let vault: Vault;

  beforeEach(async () => {
    test = await start();
    vault = await test.open();
  });
  afterEach(() => test.end());

  const owner = { userId: 'u1', spaceId: 's1' };

  it('makes one key per stream and keeps it across a reopening', async () => {
    const key = await vault.ensureKey('document-1', owner);
    expect(key).toHaveLength(32);
    expect(await vault.ensureKey('document-1', owner)).toEqual(key);
    expect(await vault.ensureKey('document-2', owner)).not.toEqual(key);
    expect((await (await test.open()).keys(['document-1'])).get('document-1')).toEqual(key);
  });

  it('answers the keys that exist and leaves the others out', async () => {
    const key = await vault.ensureKey('document-1', owner);
    expect(await vault.keys(['document-1', 'document-2'])).toEqual(new Map([['document-1', key]]));
    expect(await vault.keys([])).toEqual(new Map());
  });

  it('gives keys that keep no memory but their own alive, since many are remembered', async () => {
    const made = await vault.ensureKey('document-1', owner);
    const read = (await (await test.open()).keys(['document-1'])).get('document-1');
    expect([made, read].map((key) => key?.buffer.byteLength)).toEqual([32, 32]);
  });

  it('gives many callers at once the same key', async () => {
    const rival = await test.open();
    const keys = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        (index % 2 === 0 ? vault : rival).ensureKey(`document-${index % 10}`, owner),
      ),
    );
    expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(10);
  });

  it('never gives a destroyed stream a key again, also after a reopening', async () => {
    await vault.ensureKey('document-1', owner);
    expect(await vault.destroy({ stream: 'document-1' })).toEqual(['document-1']);
    for (const each of [vault, await test.open()]) {
      expect(await each.keys(['document-1'])).toEqual(new Map());
      await expect(each.ensureKey('document-1', owner)).rejects.toMatchObject({
        name: 'DomainError',
        code: 'not_found',
      });
    }
  });

  it('keeps a stream from getting its first key after its destruction', async () => {
    expect(await vault.destroy({ stream: 'document-1' })).toEqual(['document-1']);
    await expect(vault.ensureKey('document-1', owner)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('destroys all that belongs to a Space or a user, and nothing else', async () => {
    await vault.ensureKey('conversation-1', { userId: 'u1', spaceId: 's1' });
    await vault.ensureKey('conversation-2', { userId: 'u2', spaceId: 's1' });
    await vault.ensureKey('conversation-3', { userId: 'u1', spaceId: 's2' });
    await vault.ensureKey('conversation-4', { userId: 'u2', spaceId: 's2' });
    expect(await vault.streams({ spaceId: 's1' })).toEqual(['conversation-1', 'conversation-2']);
    expect(await vault.streams({ userId: 'u1', spaceId: 's2' })).toEqual(['conversation-3']);
    expect(await vault.destroy({ spaceId: 's1' })).toEqual(['conversation-1', 'conversation-2']);
    expect(await vault.destroy({ userId: 'u1' })).toEqual(['conversation-3']);
    const all = ['conversation-1', 'conversation-2', 'conversation-3', 'conversation-4'];
    expect([...(await vault.keys(all)).keys()]).toEqual(['conversation-4']);
    expect(await vault.streams({ spaceId: 's1' })).toEqual([]);
  });

  it('rejects new streams of a destroyed owner', async () => {
    await vault.destroy({ spaceId: 's1' });
    await expect(vault.ensureKey('document-9', { spaceId: 's1' })).rejects.toMatchObject({ code: 'not_found' });
    await expect(vault.ensureKey('document-9', { spaceId: 's2' })).resolves.toHaveLength(32);
  });

  it('answers a repeated destruction as the first', async () => {
    await vault.ensureKey('document-1', owner);
    await vault.ensureKey('document-2', owner);
    await vault.destroy({ stream: 'document-2' });
    expect(await vault.destroy({ spaceId: 's1' })).toEqual(['document-1']);
    expect(await vault.destroy({ spaceId: 's1' })).toEqual(['document-1']);
    expect(await vault.destroy({ stream: 'document-2' })).toEqual(['document-2']);
  });

  it('destroys many streams at once and answers each', async () => {
    const streams = Array.from({ length: 300 }, (_, index) => `document-${index}`);
    await Promise.all(streams.map((stream) => vault.ensureKey(stream, owner)));
    expect(await Promise.all(streams.map((stream) => vault.destroy({ stream })))).toEqual(
      streams.map((stream) => [stream]),
    );
    expect((await vault.keys(streams)).size).toBe(0);
    expect(await vault.destroy({ spaceId: 's1' })).toEqual([]);
    expect(await vault.destroy({ stream: 'document-7' })).toEqual(['document-7']);
  });

  it('reaches the remembered keys of every instance at once', async () => {
    const other = await test.open();
    await vault.ensureKey('document-1', owner);
    expect((await other.keys(['document-1'])).size).toBe(1);
    await vault.destroy({ stream: 'document-1' });
    expect((await other.keys(['document-1'])).size).toBe(0);
    expect((await vault.keys(['document-1'])).size).toBe(0);
  });

  it('is not brought back by a key that is being made meanwhile', async () => {
    const outcomes = await Promise.allSettled([
      ...Array.from({ length: 20 }, () => vault.ensureKey('document-1', owner)),
      vault.destroy({ stream: 'document-1' }),
      ...Array.from({ length: 20 }, () => vault.ensureKey('document-1', owner)),
    ]);
    expect(outcomes).toHaveLength(41);
    expect((await vault.keys(['document-1'])).size).toBe(0);
    await expect(vault.ensureKey('document-1', owner)).rejects.toMatchObject({ code: 'not_found' });
  });

  describe('of the entities of an aggregate', () => {
    it('gives each a key of its own, whoever owns the aggregate', async () => {
      const stream = await vault.ensureKey('conversation-1', owner);
      // Only the first event of a stream says who owns it.
      const [one, two] = [
        await vault.ensureKey('conversation-1/m1', {}),
        await vault.ensureKey('conversation-1/m2', {}),
      ];
      expect(new Set([stream, one, two].map((key) => key.toString('hex'))).size).toBe(3);
      expect(await vault.keys(['conversation-1/m1', 'conversation-1/m3'])).toEqual(
        new Map([['conversation-1/m1', one]]),
      );
      expect(await vault.streams({ userId: 'u1' })).toEqual(['conversation-1']);
      expect(await vault.destroy({ userId: 'u1' })).toEqual(['conversation-1']);
      expect((await vault.keys(['conversation-1', 'conversation-1/m1', 'conversation-1/m2'])).size).toBe(0);
      await expect(vault.ensureKey('conversation-1/m3', {})).rejects.toMatchObject({ code: 'not_found' });
    });

    it('makes the key of the aggregate with the first of them', async () => {
      await vault.ensureKey('conversation-1/m1', owner);
      expect(await vault.streams({ spaceId: 's1' })).toEqual(['conversation-1']);
    });

    it('destroys one and leaves the others', async () => {
      const keep = await vault.ensureKey('conversation-1/m2', owner);
      await vault.ensureKey('conversation-1/m1', owner);
      const other = await test.open();
      await other.keys(['conversation-1/m1']);
      expect(await vault.destroy({ stream: 'conversation-1/m1' })).toEqual(['conversation-1/m1']);
      for (const each of [vault, other]) {
        expect(await each.keys(['conversation-1/m1', 'conversation-1/m2'])).toEqual(
          new Map([['conversation-1/m2', keep]]),
        );
        await expect(each.ensureKey('conversation-1/m1', owner)).rejects.toMatchObject({ code: 'not_found' });
        expect((await each.keys(['conversation-1'])).size).toBe(1);
      }
      expect(await vault.destroyed(null, 10)).toMatchObject([{ stream: 'conversation-1/m1' }]);
    });

    it('destroys those of an aggregate with it, and no neighbour', async () => {
      const names = ['conversation-1/m1', 'conversation-1/m2', 'conversation-10/m1', 'conversation-1-1/m1'];
      for (const name of names) await vault.ensureKey(name, owner);
      const other = await test.open();
      await other.keys(names);
      expect(await vault.destroy({ stream: 'conversation-1' })).toEqual(['conversation-1']);
      for (const each of [vault, other])
        expect([...(await each.keys(names)).keys()].toSorted()).toEqual(['conversation-1-1/m1', 'conversation-10/m1']);
      for (const name of ['conversation-1/m1', 'conversation-1/m9'])
        await expect(vault.ensureKey(name, owner)).rejects.toMatchObject({ code: 'not_found' });
      expect(await vault.destroy({ stream: 'conversation-1' })).toEqual(['conversation-1']);
    });

    it('brings none back whose aggregate was destroyed while it was being made', async () => {
      const outcomes = await Promise.allSettled([
        ...Array.from({ length: 20 }, (_, index) => vault.ensureKey(`conversation-1/m${index}`, owner)),
        vault.destroy({ stream: 'conversation-1' }),
        ...Array.from({ length: 20 }, (_, index) => vault.ensureKey(`conversation-1/n${index}`, owner)),
      ]);
      expect(outcomes).toHaveLength(41);
      const names = Array.from({ length: 20 }, (_, index) => [`conversation-1/m${index}`, `conversation-1/n${index}`]);
      expect((await vault.keys(names.flat())).size).toBe(0);
    });

    it('brings none into another vault that knows its aggregate as destroyed, nor leaves it one there', async () => {
      const recordsOf = async (from: Vault): Promise<KeyRecord[]> => {
        const records: KeyRecord[] = [];
        for await (const record of from.records()) records.push(record);
        return records;
      };
      await vault.ensureKey('conversation-1/m1', owner);
      await vault.ensureKey('conversation-2/m1', owner);
      const other = await test.openOther();
      await other.destroy({ stream: 'conversation-1' });
      expect(await other.merge(await recordsOf(vault))).toEqual({ erased: 2 });
      expect([...(await other.keys(['conversation-1/m1', 'conversation-2/m1'])).keys()]).toEqual(['conversation-2/m1']);
      await vault.destroy({ stream: 'conversation-2' });
      await other.ensureKey('conversation-2/m2', owner);
      await other.merge(await recordsOf(vault));
      expect((await other.keys(['conversation-2/m1', 'conversation-2/m2'])).size).toBe(0);
    });
  });

  it('lists what was destroyed, with the time, in pages', async () => {
    await vault.destroy({ stream: 'document-1' });
    test.clock.advance(1000);
    await vault.destroy({ stream: 'document-2' });
    await vault.destroy({ stream: 'document-1' });
    const first = await vault.destroyed(null, 1);
    expect(first).toEqual([{ stream: 'document-1', at: '2026-01-01T00:00:00.000Z' }]);
    expect(await vault.destroyed('document-1', 10)).toEqual([{ stream: 'document-2', at: '2026-01-01T00:00:01.000Z' }]);
  });

  it('keeps what is noted beside its keys until it takes over others', async () => {
    expect(await vault.note()).toBeUndefined();
    for (const text of ['up to 4711', 'up to 4712 é']) {
      await vault.setNote(text);
      expect([await vault.note(), await (await test.open()).note()]).toEqual([text, text]);
    }
    await vault.merge([{ kind: 'destroyedOwner', owner: 'space:s9', at: '2026-01-01T00:00:00.000Z' }]);
    expect([await vault.note(), await (await test.open()).note()]).toEqual([undefined, undefined]);
  });

  describe('brought into another vault', () => {
    const recordsOf = async (from: Vault): Promise<KeyRecord[]> => {
      const records: KeyRecord[] = [];
      for await (const record of from.records()) records.push(record);
      return records;
    };

    beforeEach(async () => {
      await vault.ensureKey('document-1', owner);
      await vault.ensureKey('document-2', {});
      await vault.ensureKey('document-3', { spaceId: 's3' });
      await vault.ensureKey('document-4', { userId: 'u4' });
      await vault.destroy({ stream: 'document-2' });
      await vault.destroy({ spaceId: 's3' });
    });

    it('opens what it opened, owns what it owned, and knows what is destroyed', async () => {
      const other = await test.openOther();
      const records = await recordsOf(vault);
      expect(records.map(({ kind }) => kind)).toEqual(['destroyedOwner', 'destroyed', 'destroyed', 'key', 'key']);
      for (let times = 0; times < 2; times += 1) expect(await other.merge(records)).toEqual({ erased: 0 });
      const all = ['document-1', 'document-2', 'document-3', 'document-4'];
      expect(await other.keys(all)).toEqual(await vault.keys(all));
      expect(await other.streams({ spaceId: 's1' })).toEqual(['document-1']);
      expect(await other.destroyed(null, 10)).toEqual(await vault.destroyed(null, 10));
      await expect(other.ensureKey('document-9', { spaceId: 's3' })).rejects.toMatchObject({ code: 'not_found' });
      expect(await other.destroy({ userId: 'u4' })).toEqual(['document-4']);
    });

    it('never brings a key back that either of the two has destroyed', async () => {
      const other = await test.openOther();
      await other.destroy({ stream: 'document-1' });
      await other.destroy({ userId: 'u4' });
      expect(await other.merge(await recordsOf(vault))).toEqual({ erased: 2 });
      expect(await other.keys(['document-1', 'document-4'])).toEqual(new Map());
      await vault.ensureKey('document-5', owner);
      await other.ensureKey('document-5', owner);
      await vault.destroy({ stream: 'document-5' });
      await other.keys(['document-5']);
      await other.merge(await recordsOf(vault));
      expect(await other.keys(['document-5'])).toEqual(new Map());
    });

    it('rejects keys that are wrapped under another VAULT_KEY, and takes none of them', async () => {
      const other = await test.openOther('another secret of at least thirty-two characters');
      await expect(other.merge(await recordsOf(vault))).rejects.toMatchObject({ name: 'WrongVaultKey' });
      expect(await other.destroyed(null, 10)).toEqual([]);
    });
  });
};
