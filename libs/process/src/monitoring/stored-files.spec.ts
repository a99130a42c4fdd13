import { type Position, Unavailable } from '@app/kernel';
import { blobsHealth, type StoredFilesParts } from './stored-files';

const WELL = { ok: true };
const LOST = { ok: false, reason: 'the log names files, but none is stored' };
const HEAD = '7' as Position;

/** Files that are named and stored; `whileListing` happens before the list is read. */
const healthOf = async (
  named: Set<string>,
  stored: Set<string>,
  { whileListing = () => undefined, ...others }: Partial<StoredFilesParts> & { whileListing?: () => void } = {},
) => {
  let listed = 0;
  const row = (key: string) => ({ key, position: HEAD, row: {}, size: 2 });
  const parts: StoredFilesParts = {
    blobs: {
      health: async () => WELL,
      storedAt: async (name) => (stored.has(name) ? new Date(0) : undefined),
      list: async () => {
        listed += 1;
        whileListing();
        return [...stored];
      },
    },
    log: { head: async () => HEAD },
    readStore: {
      find: async () => [...named].slice(0, 1).map(row),
      get: async (_, key) => (named.has(key) ? row(key) : undefined),
    },
    projecting: { gap: async () => undefined },
    ...others,
  };
  return { health: await blobsHealth(parts), listed };
};

test('files that are named and of which none is stored are lost', async () =>
  expect((await healthOf(new Set(['a', 'b']), new Set())).health).toEqual(LOST));

test('nothing is listed where none is named, or the one that is looked for is stored', async () => {
  expect(await healthOf(new Set(), new Set())).toEqual({ health: WELL, listed: 0 });
  expect(await healthOf(new Set(['a']), new Set(['a']))).toEqual({ health: WELL, listed: 0 });
});

test('one that is missing among others is not the loss of all', async () =>
  expect((await healthOf(new Set(['a', 'b']), new Set(['b']))).health).toEqual(WELL));

test('the last file, removed meanwhile, is not lost', async () => {
  const named = new Set(['a']);
  expect((await healthOf(named, new Set(), { whileListing: () => named.clear() })).health).toEqual(WELL);
});

test('nothing is said to be lost while it is not known what is named', async () => {
  const gap = async () => ({ reason: 'it is behind', passes: true });
  const away = () => Promise.reject(new Unavailable('views', 'away'));
  expect((await healthOf(new Set(['a']), new Set(), { projecting: { gap } })).health).toEqual(WELL);
  expect((await healthOf(new Set(['a']), new Set(), { readStore: { find: away, get: away } })).health).toEqual(WELL);
});

test('a place that is away is said to be that', async () => {
  const blobs = {
    health: async () => ({ ok: false, reason: 'away' }),
    storedAt: () => Promise.reject(new Error('asked')),
    list: () => Promise.reject(new Error('asked')),
  };
  expect((await healthOf(new Set(['a']), new Set(), { blobs })).health).toEqual({ ok: false, reason: 'away' });
});
