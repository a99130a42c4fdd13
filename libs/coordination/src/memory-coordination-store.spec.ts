import { MemoryCoordinationStore } from '../../../test/fixtures/memory-coordination-store';
import { coordinationStoreContract } from './coordination-store.contract';

coordinationStoreContract('Memory', async () => {
  const store = new MemoryCoordinationStore();
  return { store, beside: async () => store, destroy: () => store.close() };
});
