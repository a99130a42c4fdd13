import type { StoredEvent } from '@app/kernel';
import { FixedClock } from '../../../test/fixtures/fixed-clock';
import { BlobSweep } from './blob-sweep';

const NOW = new Date('2026-11-27T12:00:00.000Z');

/** A sweep over `files` and the view `named`; `whileListing` happens between asking for the files and being told. */
const sweepOf = (files: string[], named: Set<string>, whileListing: () => void = () => undefined) => {
  const told: string[] = [];
  const sweep = new BlobSweep(
    {
      list: async (after, limit) => {
        const page = files.filter((name) => after === null || name > after).slice(0, limit);
        whileListing();
        return page;
      },
      remove: async (names) => {
        for (const name of names) files.splice(files.indexOf(name), 1);
      },
      storedAt: async () => NOW,
    },
    { head: async () => null, readAll: async () => ({ events: [] as StoredEvent[], next: null, end: true }) },
    {
      count: async () => named.size,
      getMany: async () => [],
    },
    {
      gap: async () => undefined,
      rebuild: () => ({ status: async () => undefined }),
    },
    new FixedClock(NOW),
    { error: (_, message) => void told.push(message), warn: (_, message) => void told.push(message) },
  );
  return { sweep, told };
};

const LOST = expect.stringContaining('The log names files, but none is stored');

test('files that are named and of which none is stored are told of as lost', async () => {
  const { sweep, told } = sweepOf([], new Set(['a']));
  expect(await sweep.sweep()).toEqual({ blobs: 0, removed: 0 });
  expect(told).toEqual([LOST]);
});

test('nothing is told where no file is named', async () => {
  const { sweep, told } = sweepOf([], new Set());
  await sweep.sweep();
  expect(told).toEqual([]);
});

test('the first file, uploaded while the files are listed, is not told of as lost', async () => {
  const [files, named] = [[] as string[], new Set<string>()];
  const { sweep, told } = sweepOf(files, named, () => {
    files.push('a');
    named.add('a');
  });
  await sweep.sweep();
  expect(told).toEqual([]);
});

test('the last file, removed before the view has followed, is not told of as lost', async () => {
  const named = new Set(['a']);
  const { sweep, told } = sweepOf([], named, () => named.clear());
  await sweep.sweep();
  expect(told).toEqual([]);
});

test('a file that takes the place of the last one while the files are listed is not told of as lost', async () => {
  const [files, named] = [[] as string[], new Set(['a'])];
  const { sweep, told } = sweepOf(files, named, () => {
    if (files.length > 0) return;
    files.push('b');
    named.clear();
    named.add('b');
  });
  await sweep.sweep();
  expect(told).toEqual([]);
});
