import type Database from 'better-sqlite3';
import type { Checkpoint } from '../read-store';

/** Where a slice stands, and the highest fence that a writer of it came with. */
export interface SlicePlace extends Checkpoint {
  readonly fence: number;
}

const START: SlicePlace = { position: null, handled: 0, fence: 0 };

/** Where the slices behind the first stand; the first stands in `head`. Most files have no others, so the table is made with the first of them. */
export const readSlicePlace = (db: Database.Database, slice: number): SlicePlace => {
  const made =
    db.prepare(`select count(*) from sqlite_schema where type = 'table' and name = 'slices'`).pluck().get() === 1;
  const place = made
    ? (db.prepare('select position, handled, fence from slices where slice = ?').get(slice) as SlicePlace | undefined)
    : undefined;
  return place ?? START;
};

/** Stores where a slice of a view stands, and the fence of whoever wrote it. */
export const writeSlicePlace = (
  db: Database.Database,
  slice: number,
  { position, handled }: Checkpoint,
  fence: number,
): void => {
  db.exec(
    'create table if not exists slices(slice integer primary key, position text, handled integer not null, fence integer not null)',
  );
  db.prepare(
    'insert into slices values (?, ?, ?, ?) on conflict (slice) do update set position = excluded.position, handled = excluded.handled, fence = excluded.fence',
  ).run(slice, position, handled, fence);
};
