import { REMEMBERED, SharedLruCache } from '@app/kernel';
import { frozen } from '../frozen';
import type { Row, StoredRow } from '../read-store';

/** A row as the file has it. */
export interface FoundRow {
  readonly key: string;
  readonly position: string;
  /** Number of the commit that wrote it. */
  readonly changed: number;
  readonly row: string;
}

/** A parsed row. Everybody gets the same object, so it is frozen in depth. */
export interface CachedRow {
  readonly stored: StoredRow;
  readonly changed: number;
  /** Value of the shared version counter at which the row was last known to be this. */
  seen: number;
  readonly size: number;
}

/** Characters that a parsed row costs beside its text. */
const OVERHEAD = 200;

export const rowCache = (): SharedLruCache<string, CachedRow> => new SharedLruCache(REMEMBERED, ({ size }) => size);

export const parsedRow = ({ key, position, changed, row }: FoundRow, seen: number): CachedRow => ({
  stored: Object.freeze({ key, position, row: frozen(JSON.parse(row) as Row), size: row.length }),
  changed,
  seen,
  size: row.length + OVERHEAD,
});
