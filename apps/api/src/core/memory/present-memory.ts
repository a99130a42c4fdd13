import type { JsonText } from '@app/http';
import type { MemoryCaller } from '@app/memory';
import type { MemoryRow } from '@projections/memories';
import { memoryView } from './memories-schemas';

/** A memory as a caller sees it: who proposed a shared one is for themselves and for editors to know. */
export const presentMemory = (row: MemoryRow, { userId, access }: MemoryCaller): JsonText => {
  const mayKnow = row.userId === userId || access === 'edit';
  return memoryView(row, { userId: mayKnow ? row.userId : null });
};
