import type { ReadStore, StoredRow } from '@app/read-store';
import type { DocumentRow } from '../documents.projection';
import { servedRows } from './served-rows';

/** Sorts behind every place and every key. */
const LAST = '\uffff';

/** The embedding models whose vectors are searched, in the whole instance, by their keys. */
export const modelsSearched = async (store: Pick<ReadStore, 'find'>): Promise<readonly string[]> => {
  const orderBy = [
    { field: 'embeddingModel', order: 'asc' as const },
    { field: 'place', order: 'asc' as const },
  ];
  const found: string[] = [];
  // From one model to the next, however many documents have it.
  for (let last = ''; ;) {
    const after = { values: [last, LAST], key: LAST };
    const [next] = (await servedRows(store, { orderBy, after, limit: 1 })) as readonly StoredRow<DocumentRow>[];
    if (next === undefined || next.row.embeddingModel === null) return found;
    last = next.row.embeddingModel;
    found.push(last);
  }
};
