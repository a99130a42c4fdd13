import { mkdtempSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { DurableFolders } from './durable-folders';

/** Syncs that end when they are told to, and the folders that they were asked for. */
const setUp = () => {
  const asked: string[] = [];
  const ends: PromiseWithResolvers<void>[] = [];
  const folders = new DurableFolders((folder) => {
    asked.push(folder);
    const end = Promise.withResolvers<void>();
    ends.push(end);
    return end.promise;
  });
  return { folders, asked, ends };
};
const isSettled = async (promise: Promise<unknown>): Promise<boolean> => {
  let settled = false;
  const end = () => (settled = true);
  promise.then(end, end);
  await turn();
  return settled;
};

it('syncs once more for all who asked while a sync was under way, which may not have seen their names', async () => {
  const { folders, asked, ends } = setUp();
  const first = folders.sync('a');
  const later = [folders.sync('a'), folders.sync('a'), folders.sync('a')];
  const other = folders.sync('b');
  expect(asked).toEqual(['a', 'b']);
  ends[0]?.resolve();
  await first;
  expect(await Promise.all(later.map(isSettled))).toEqual([false, false, false]);
  expect(asked).toEqual(['a', 'b', 'a']);
  ends[2]?.resolve();
  await Promise.all(later);
  ends[1]?.resolve();
  await other;
  void folders.sync('a');
  expect(asked).toEqual(['a', 'b', 'a', 'a']);
});

it('tells each who waits for a sync that it failed, and syncs anew for the next', async () => {
  const { folders, asked, ends } = setUp();
  const first = folders.sync('a');
  const second = folders.sync('a');
  ends[0]?.reject(new Error('no disk'));
  await expect(first).rejects.toThrow('no disk');
  await turn();
  ends[1]?.reject(new Error('still none'));
  await expect(second).rejects.toThrow('still none');
  await turn();
  const third = folders.sync('a');
  ends[2]?.resolve();
  await third;
  expect(asked).toEqual(['a', 'a', 'a']);
});

describe('a folder', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'durable-folders-'));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it('is made once, its name on the disk before anybody goes on, and again where it was taken away', async () => {
    const { folders, asked, ends } = setUp();
    const folder = join(root, 'a');
    const both = [folders.make(folder), folders.make(folder)];
    while (ends.length === 0) await turn();
    expect(await Promise.all(both.map(isSettled))).toEqual([false, false]);
    ends[0]?.resolve();
    await Promise.all([...both, folders.make(folder)]);
    expect([asked, statSync(folder).mode & 0o777]).toEqual([[root], 0o700]);
    rmdirSync(folder);
    const again = folders.makeAgain(folder);
    while (ends.length === 1) await turn();
    ends[1]?.resolve();
    await again;
    expect(statSync(folder).isDirectory()).toBe(true);
  });

  it('is made by the next who asks where its name did not reach the disk', async () => {
    const { folders, asked, ends } = setUp();
    const failing = folders.make(join(root, 'a'));
    while (ends.length === 0) await turn();
    ends[0]?.reject(new Error('no disk'));
    await expect(failing).rejects.toThrow('no disk');
    const next = folders.make(join(root, 'a'));
    while (ends.length === 1) await turn();
    ends[1]?.resolve();
    await next;
    expect(asked).toEqual([root, root]);
  });
});
