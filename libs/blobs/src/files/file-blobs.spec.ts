import { createHook } from 'node:async_hooks';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import type { Blobs } from '../blobs';
import { blobsContract, MemoryKeyring } from '../blobs.contract';
import { openFileBlobs } from './file-blobs';
import { unavailable } from './file-errors';

const MEBIBYTE = 1 << 20;

const setUp = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'blobs-'));
  const keyring = new MemoryKeyring();
  const other = join(folder, 'other');
  return {
    folder,
    keyring,
    open: () => openFileBlobs({ folder, vault: keyring }),
    openOther: () => openFileBlobs({ folder: other, vault: keyring }),
    end: async () => rmSync(folder, { recursive: true }),
  };
};

/** Calls of Node's pool of threads for files that some work takes: each wakes two threads. */
const poolCalls = async (work: () => Promise<unknown>): Promise<number> => {
  let calls = 0;
  const hook = createHook({ init: (_, type) => void (type.startsWith('FSREQ') && (calls += 1)) }).enable();
  await work().finally(() => hook.disable());
  return calls;
};

describe('FileBlobs', () => {
  blobsContract(setUp);
});

describe('The files of FileBlobs', () => {
  let test: Awaited<ReturnType<typeof setUp>>;
  let blobs: Blobs;
  const fileOf = (name: string) => join(test.folder, name.slice(0, 2), name);

  beforeEach(async () => {
    test = await setUp();
    blobs = await test.open();
  });
  afterEach(() => test.end());

  it('hold no plaintext and are readable by their owner alone', async () => {
    const { name } = await blobs.put('document-1', Buffer.from('a sentence that must not be found'), {});
    expect(readFileSync(fileOf(name)).includes('sentence')).toBe(false);
    expect(statSync(fileOf(name)).mode & 0o777).toBe(0o600);
  });

  it('are listed by the folders that there are', async () => {
    expect(await poolCalls(() => blobs.list(null, 10))).toBe(1);
    const { name } = await blobs.put('document-1', Buffer.from('a'), {});
    expect(await poolCalls(async () => expect(await blobs.list(null, 10)).toEqual([name]))).toBe(2);
  });

  const body = randomBytes(3 * 65_536);
  const stored = 20 + 3 * (65_536 + 16);
  it.each([
    ['cut by one byte', (file: Buffer) => file.subarray(0, stored - 1)],
    ['cut after a frame', (file: Buffer) => file.subarray(0, 20 + 2 * 65_552)],
    ['cut to its header', (file: Buffer) => file.subarray(0, 20)],
    ['emptied', () => Buffer.alloc(0)],
    ['changed in one bit', (file: Buffer) => file.with(70_000, (file[70_000] as number) ^ 1)],
    [
      'with two frames exchanged',
      (file: Buffer) =>
        Buffer.concat([
          file.subarray(0, 20),
          file.subarray(20 + 65_552, 20 + 2 * 65_552),
          file.subarray(20, 20 + 65_552),
          file.subarray(20 + 2 * 65_552),
        ]),
    ],
    ['with a frame added', (file: Buffer) => Buffer.concat([file, file.subarray(20, 20 + 65_552)])],
  ])('is found damaged when %s, by its name', async (_, change) => {
    const { name } = await blobs.put('document-1', body, {});
    writeFileSync(fileOf(name), change(readFileSync(fileOf(name))));
    await expect(blobs.get('document-1', name)).rejects.toMatchObject({
      name: 'BlobDamaged',
      blob: name,
      message: expect.stringContaining(name) as string,
    });
  });

  it('is found damaged when another body of the same aggregate stands in its place', async () => {
    const first = await blobs.put('document-1', Buffer.from('a'), {});
    const second = await blobs.put('document-1', Buffer.from('b'), {});
    writeFileSync(fileOf(first.name), readFileSync(fileOf(second.name)));
    await expect(blobs.get('document-1', first.name)).rejects.toMatchObject({ name: 'BlobDamaged' });
  });

  it('writes a large body as it arrives instead of keeping it in memory', async () => {
    const unwritten: number[] = [];
    const large = async function* () {
      for (let count = 0; count < 32; count += 1) {
        const [file] = readdirSync(join(test.folder, 'unfinished'));
        unwritten.push(
          count * MEBIBYTE - (file === undefined ? 0 : statSync(join(test.folder, 'unfinished', file)).size),
        );
        yield randomBytes(MEBIBYTE);
      }
    };
    expect((await blobs.put('document-1', large(), {})).size).toBe(32 * MEBIBYTE);
    expect(Math.max(...unwritten)).toBeLessThan(2 * MEBIBYTE);
  });

  it('stores bodies that are stored at once in one folder, under names of their own, and again where that was taken away', async () => {
    const group = blobs.group();
    const put = (size: number) => group.put('document-1', randomBytes(size), {});
    const stored = await Promise.all(Array.from({ length: 20 }, (_, index) => put(index * 10_000)));
    await group.durable();
    const names = stored.map(({ name }) => name);
    const beside = names[0] ?? '';
    expect(new Set(names).size).toBe(20);
    expect(readdirSync(join(test.folder, beside.slice(0, 2))).toSorted()).toEqual(names.toSorted());
    expect(await blobs.list(null, 100)).toEqual(names.toSorted());
    rmSync(join(test.folder, beside.slice(0, 2)), { recursive: true });
    const { name } = await put(100_000);
    await group.durable();
    expect(await blobs.get('document-1', name)).toHaveLength(100_000);
  });

  it('takes few calls of the pool of threads for a small body', async () => {
    const group = blobs.group();
    const small = (size = 5_000) => group.put('document-1', randomBytes(size), {});
    const { name } = await small();
    await group.durable();
    expect(await poolCalls(async () => (await small(), group.durable()))).toBe(4);
    expect(await poolCalls(() => blobs.get('document-1', name))).toBe(2);
    expect(await poolCalls(() => blobs.remove([name]))).toBe(1);
  });

  describe('that cannot be read or written', () => {
    let name = '';
    let aside = '';
    beforeEach(async () => {
      ({ name } = await blobs.put('document-1', randomBytes(100_000), {}));
      aside = mkdtempSync(join(tmpdir(), 'blobs-aside-'));
    });
    afterEach(() => rmSync(aside, { recursive: true }));

    /** What is asked of bodies. */
    const asked: readonly (readonly [what: string, ask: () => Promise<unknown>])[] = [
      ['put', () => blobs.put('document-1', Buffer.from('a'), {})],
      ['put large', () => blobs.put('document-1', randomBytes(100_000), {})],
      ['get', () => blobs.get('document-1', name)],
      ['open', () => blobs.open('document-1', name)],
      ['remove', () => blobs.remove([name])],
      ['list', () => blobs.list(null, 10)],
      ['have', () => blobs.haveAll([name])],
      ['have many', () => blobs.haveAll(Array.from({ length: 9 }, (_, index) => `${name.slice(0, -1)}${index}`))],
      ['date', () => blobs.storedAt(name)],
      ['read as stored', () => blobs.readStored(name)],
      ['write as stored', () => blobs.writeStored(name, Buffer.from('a'))],
    ];

    it.each(asked)('are unavailable, not missing, while their folder is gone: %s', async (_, ask) => {
      renameSync(test.folder, join(aside, 'blobs'));
      await expect(ask()).rejects.toMatchObject({
        name: 'Unavailable',
        dependency: 'blobs',
        reason: 'the folder of blobs is missing',
        outcome: 'none',
      });
      renameSync(join(aside, 'blobs'), test.folder);
      expect(await blobs.get('document-1', name)).toHaveLength(100_000);
    });

    it.each(asked)('are unavailable while a file is in the place of their folder: %s', async (_, ask) => {
      renameSync(test.folder, join(aside, 'blobs'));
      writeFileSync(test.folder, '');
      await expect(ask()).rejects.toMatchObject({ name: 'Unavailable', reason: 'a file is in the place of a folder' });
      rmSync(test.folder);
      renameSync(join(aside, 'blobs'), test.folder);
    });

    it('are unavailable where a folder is in the place of one', async () => {
      rmSync(fileOf(name));
      mkdirSync(fileOf(name));
      const isFolder = { name: 'Unavailable', reason: 'a folder is in the place of a file' };
      await expect(blobs.get('document-1', name)).rejects.toMatchObject(isFolder);
    });

    it.each(['EROFS', 'EIO', 'EACCES', 'EMFILE', 'ENOSPC'])('are unavailable where the system says %s', (code) => {
      const cause = Object.assign(new Error(`${code}: open '/secret/path'`), { code });
      expect(unavailable(cause)).toMatchObject({ name: 'Unavailable', outcome: 'none', cause });
      expect((unavailable(cause) as Error).message).not.toContain('/secret');
    });

    it('fail as their client does, whose error is none of the disk', async () => {
      const left = Object.assign(new Error('left'), { code: 'ECONNRESET' });
      const leaving = async function* () {
        yield Buffer.from('a');
        throw left;
      };
      await expect(blobs.put('document-1', leaving(), {})).rejects.toBe(left);
      expect(readdirSync(join(test.folder, 'unfinished'))).toEqual([]);
    });
  });

  it('sweeps what a crash left unfinished a day ago, not what is under way', async () => {
    const unfinished = join(test.folder, 'unfinished');
    writeFileSync(join(unfinished, 'old'), 'x');
    writeFileSync(join(unfinished, 'young'), 'x');
    utimesSync(join(unfinished, 'old'), new Date(0), new Date(0));
    await test.open();
    expect(readdirSync(unfinished)).toEqual(['young']);
  });
});
