import { createHash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { Decisions, EventCatalogue, EventCodec, TimeOrderedIds, Unavailable } from '@app/kernel';
import { UnusedKeys } from '@app/blobs';
import { MemoryBlobs } from '../../../../test/fixtures/memory-blobs';
import { MemoryLog } from '../../../../test/fixtures/memory-log';
import { until } from '../../../../test/fixtures/until';
import { SkillBodies } from './skill-bodies';

const ids = new TimeOrderedIds();
/** Together so many bytes that a thread looks for findings. */
const filesOf = (count: number) =>
  Array.from({ length: count }, (_, index) => {
    const bytes = Buffer.from(`File ${index}. `.padEnd(80 * 1024, 'All is well. '));
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    return { path: `${index}.md`, mediaType: 'text/markdown', sizeBytes: bytes.length, sha256, bytes };
  });
const opened = (count: number) => {
  const blobs = new MemoryBlobs();
  const keyring = { ensureKey: async () => Buffer.alloc(32), keys: async () => new Map<string, Buffer>() };
  const codec = new EventCodec(new EventCatalogue([]), keyring);
  const keys = new UnusedKeys({ ...keyring, destroy: async () => [] });
  const bodies = new SkillBodies(blobs, new Decisions(new MemoryLog(), codec), keys);
  const skillId = ids.next();
  return { blobs, bodies, skillId, store: () => bodies.store({ skillId, spaceId: ids.next() }, filesOf(count)) };
};

afterEach(() => void jest.restoreAllMocks());

it('stores files while findings are looked for', async () => {
  const { blobs, store } = opened(20);
  const send = Worker.prototype.postMessage;
  const held: (() => void)[] = [];
  jest.spyOn(Worker.prototype, 'postMessage').mockImplementation(function (this: Worker, ...given) {
    held.push(() => send.apply(this, given));
  });
  const storing = store();
  await until(() => blobs.bodies.size === 20);
  jest.restoreAllMocks();
  for (const resume of held) resume();
  expect((await storing).map(({ findings }) => findings)).toEqual(Array.from({ length: 20 }, () => []));
});

it('keeps no file where findings cannot be looked for', async () => {
  const { blobs, store } = opened(8);
  const ended = Promise.withResolvers<void>();
  const put = blobs.put.bind(blobs);
  // Files are stored later than the search fails.
  const late = jest.spyOn(blobs, 'put').mockImplementation((...given) => ended.promise.then(() => put(...given)));
  jest.spyOn(Worker.prototype, 'postMessage').mockImplementation(function (this: Worker) {
    this.once('exit', () => setImmediate(ended.resolve));
    void this.terminate();
  });
  await expect(store()).rejects.toMatchObject({ name: 'Unavailable', dependency: 'screening' });
  await Promise.all(late.mock.results.map(({ value }) => value));
  expect(blobs.bodies.size).toBe(0);
});

it.each([
  ['unknown', 2],
  ['none', 0],
] as const)('keeps files that an event may name yet, and no others: outcome %s', async (outcome, kept) => {
  const { blobs, bodies, skillId, store } = opened(2);
  const files = await store();
  const failed = new Unavailable('log', 'no answer', outcome);
  await expect(bodies.naming(skillId, files, () => Promise.reject(failed))).rejects.toBe(failed);
  expect(blobs.bodies.size).toBe(kept);
});

it('keeps no files that nothing came to name, though all went well', async () => {
  const { blobs, bodies, skillId, store } = opened(2);
  const files = await store();
  expect(await bodies.naming(skillId, files, async () => 'nothing changed')).toBe('nothing changed');
  expect(blobs.bodies.size).toBe(0);
});
