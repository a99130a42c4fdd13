import { Unavailable } from '@app/kernel';
import { MemoryCoordinationStore } from '../../../../test/fixtures/memory-coordination-store';
import { readReindexProgress, showReindexProgress } from './reindex-progress';

it('is left out where the store is away, and shown again once it is back: the job goes on', async () => {
  const store = new MemoryCoordinationStore();
  const write = jest.spyOn(store, 'write');
  write.mockRejectedValueOnce(new Unavailable('coordination', 'no answer', 'unknown'));
  await showReindexProgress(store, 'place', { jobId: 'job', done: 1, total: 3 });
  expect(await readReindexProgress(store, 'place', 'job')).toBeUndefined();
  await showReindexProgress(store, 'place', { jobId: 'job', done: 2, total: 3 });
  expect(await readReindexProgress(store, 'place', 'job')).toMatchObject({ done: 2 });
});
