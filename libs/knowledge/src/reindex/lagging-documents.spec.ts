import { MemoryCoordinationStore } from '../../../../test/fixtures/memory-coordination-store';
import { LaggingDocuments } from './lagging-documents';

it('documents behind a re-index are found however many wait before them', async () => {
  const behind = new LaggingDocuments(new MemoryCoordinationStore());
  const ids = Array.from({ length: 1_200 }, (_, index) => String(index).padStart(4, '0'));
  for (const documentId of ids) await behind.add({ reindexId: 'r', documentId });
  expect((await behind.waiting()).map(({ documentId }) => documentId)).toEqual(ids);
});
