import { randomBytes } from 'node:crypto';
import { type DataKey, DomainError, type Keyring } from '@app/kernel';
import type { Blobs } from './blobs';

/** Keys in memory, with the one rule of the vault that blobs lean on. */
export class MemoryKeyring implements Keyring {
  private readonly held = new Map<string, DataKey | undefined>();

  async ensureKey(stream: string): Promise<DataKey> {
    if (!this.held.has(stream)) this.held.set(stream, randomBytes(32));
    const key = this.held.get(stream);
    if (key === undefined) throw new DomainError('not_found');
    return key;
  }

  async keys(streams: readonly string[]): Promise<ReadonlyMap<string, DataKey>> {
    return new Map(
      streams.flatMap((stream) =>
        this.held.get(stream) === undefined ? [] : [[stream, this.held.get(stream) as DataKey]],
      ),
    );
  }

  destroy(stream: string): void {
    this.held.set(stream, undefined);
  }
}

export interface BlobsUnderTest {
  readonly keyring: MemoryKeyring;
  /** Opens the same store again. */
  open(): Promise<Blobs>;
  /** Opens another, empty store with the same keyring. */
  openOther(): Promise<Blobs>;
  end(): Promise<void>;
}

/** What every store of large bodies must hold. */
export const blobsContract = (start: () => Promise<BlobsUnderTest>): void => {
  let test: BlobsUnderTest;
  let blobs: Blobs;

  beforeEach(async () => {
    test = await start();
    blobs = await test.open();
  });
  afterEach(() => test.end());

  it.each([0, 1, 65_535, 65_536, 65_537, 131_072, 1_000_003])(
    'gives back a body of %i bytes, also after a reopening',
    async (size) => {
      const body = randomBytes(size);
      const stored = await blobs.put('document-1', body, {});
      expect(stored.size).toBe(size);
      expect((await (await test.open()).get('document-1', stored.name))?.equals(body)).toBe(true);
    },
  );

  it('takes a body in pieces of any size', async () => {
    const body = randomBytes(300_000);
    const pieces = async function* () {
      for (let start = 0, size = 1; start < body.length; start += size, size = (size * 7) % 100_003)
        yield body.subarray(start, start + size);
    };
    const { name, size } = await blobs.put('document-1', pieces(), {});
    expect(size).toBe(body.length);
    expect((await blobs.get('document-1', name))?.equals(body)).toBe(true);
  });

  it('gives a large body back in small pieces, as they are asked for', async () => {
    const body = randomBytes(5_000_001);
    const { name } = await blobs.put('document-1', body, {});
    const opened = await blobs.open('document-1', name);
    expect(opened?.size).toBe(body.length);
    const pieces: Buffer[] = [];
    for await (const piece of opened?.pieces ?? []) pieces.push(piece);
    expect(Buffer.concat(pieces).equals(body)).toBe(true);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(65_536);
    expect([
      await blobs.open('document-1', '0'.repeat(32)),
      await blobs.open('document-1', '../../etc/passwd'),
    ]).toEqual([undefined, undefined]);
  });

  it('breaks off where a body goes away while it is read', async () => {
    const body = randomBytes(5_000_001);
    const { name } = await blobs.put('document-1', body, {});
    const read: Buffer[] = [];
    const reading = async (): Promise<void> => {
      for await (const piece of (await blobs.open('document-1', name))?.pieces ?? []) {
        if (read.push(piece) === 1) await blobs.remove([name]);
      }
    };
    await expect(reading()).rejects.toMatchObject({ name: 'BlobDamaged', blob: name });
    const given = Buffer.concat(read);
    expect(given.equals(body.subarray(0, given.length))).toBe(true);
    expect(given.length).toBeLessThan(body.length);
  });

  it('leaves nothing behind when the body breaks off', async () => {
    const broken = async function* () {
      yield randomBytes(100_000);
      throw new Error('the client went away');
    };
    await expect(blobs.put('document-1', broken(), {})).rejects.toThrow('the client went away');
    expect(await blobs.list(null, 10)).toEqual([]);
  });

  it('gives nothing for an unknown name, another aggregate or a destroyed key', async () => {
    const { name } = await blobs.put('document-1', Buffer.from('text'), {});
    await blobs.put('document-2', Buffer.from('other'), {});
    expect(await blobs.get('document-1', '0'.repeat(32))).toBeUndefined();
    expect(await blobs.get('document-1', '../../etc/passwd')).toBeUndefined();
    await expect(blobs.get('document-2', name)).rejects.toMatchObject({ name: 'BlobDamaged', blob: name });
    test.keyring.destroy('document-1');
    expect(await blobs.get('document-1', name)).toBeUndefined();
    await expect(blobs.put('document-1', Buffer.from('more'), {})).rejects.toMatchObject({ code: 'not_found' });
  });

  it('removes bodies and passes over unknown names', async () => {
    const first = await blobs.put('document-1', Buffer.from('a'), {});
    const second = await blobs.put('document-1', Buffer.from('b'), {});
    await blobs.remove([first.name, '0'.repeat(32), first.name]);
    expect(await blobs.get('document-1', first.name)).toBeUndefined();
    expect((await blobs.get('document-1', second.name))?.toString()).toBe('b');
  });

  it('lists all names in order, in pages', async () => {
    const stored = await Promise.all(
      Array.from({ length: 30 }, (_, index) => blobs.put(`document-${index}`, Buffer.from('x'), {})),
    );
    const pages: string[] = [];
    for (let page = await blobs.list(null, 7); page.length > 0; page = await blobs.list(page.at(-1) ?? null, 7))
      pages.push(...page);
    expect(pages).toEqual(stored.map(({ name }) => name).toSorted());
  });

  it('stores bodies together, and says whether all of some are there', async () => {
    const group = blobs.group();
    const bodies = Array.from({ length: 40 }, (_, index) => randomBytes(index * 2_000));
    const names = (await Promise.all(bodies.map((body) => group.put('document-1', body, {})))).map(({ name }) => name);
    await group.durable();
    const { name: other } = await blobs.put('document-1', Buffer.from('x'), {});
    const again = await test.open();
    for (const [index, body] of bodies.entries())
      expect((await again.get('document-1', names[index] ?? ''))?.equals(body)).toBe(true);
    const haveAll = [[], [other], names, names.slice(0, 3), [...names.toReversed(), other]];
    expect(await Promise.all(haveAll.map((some) => again.haveAll(some)))).toEqual(haveAll.map(() => true));
    const missing = [[...names, '0'.repeat(32)], ['0'.repeat(32)], [...names, '../../etc/passwd']];
    const withoutFile = names.map((name, index) => (index === 20 ? `${name.slice(0, 31)}g` : name));
    expect(await Promise.all([...missing, withoutFile].map((some) => again.haveAll(some)))).toEqual(
      Array(4).fill(false),
    );
    const gone = [names[0] ?? '', names[20] ?? '', names[39] ?? ''];
    for (const name of gone) {
      await blobs.remove([name]);
      expect(await again.haveAll(names)).toBe(false);
      expect(await again.haveAll([name])).toBe(false);
      names.splice(names.indexOf(name), 1);
      expect(await again.haveAll(names)).toBe(true);
    }
  });

  it('says when a body was stored', async () => {
    const before = Date.now();
    const { name } = await blobs.put('document-1', Buffer.from('x'), {});
    // A server may keep whole seconds, and have a clock of its own.
    expect(Math.abs(((await blobs.storedAt(name))?.getTime() ?? 0) - before)).toBeLessThan(10_000);
    expect([await blobs.storedAt('0'.repeat(32)), await blobs.storedAt('../../etc/passwd')]).toEqual([
      undefined,
      undefined,
    ]);
  });

  it('carries bodies to another store as they are kept', async () => {
    const other = await test.openOther();
    const body = randomBytes(100_000);
    const { name } = await blobs.put('document-1', body, {});
    const stored = (await blobs.readStored(name)) as Buffer;
    expect(stored.includes(body.subarray(0, 64))).toBe(false);
    for (let times = 0; times < 2; times += 1) await other.writeStored(name, stored);
    expect((await other.get('document-1', name))?.equals(body)).toBe(true);
    expect(await other.list(null, 10)).toEqual([name]);
    expect(await blobs.readStored('0'.repeat(32))).toBeUndefined();
    expect(await blobs.readStored('../../etc/passwd')).toBeUndefined();
    await expect(other.writeStored('../../etc/passwd', stored)).rejects.toThrow('is not a blob name');
  });
};
