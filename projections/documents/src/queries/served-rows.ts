import type { FindOptions, ReadStore, StoredRow } from '@app/read-store';
import { documents } from '../documents.projection';

/**
 * Rows that an index serves. None from a build of an earlier version, which answers until this version's is whole and lacks
 * the index: for what an answer is better without than late.
 */
export const servedRows = async (
  store: Pick<ReadStore, 'find'>,
  options: FindOptions,
): Promise<readonly StoredRow[]> => {
  try {
    return await store.find(documents.name, options);
  } catch (error) {
    if (error instanceof RangeError) return [];
    throw error;
  }
};
