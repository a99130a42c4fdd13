import type { Json, Position } from '@app/kernel';
import { isErased } from '@app/kernel/threads';
import { type IndexSpec, type Operation, type Row, type RowChange, UniqueViolation } from './read-store';
import { comparable, type Scalar } from './index-choice';

/** The rows as they stand in the file before the batch. */
export interface StoredRows {
  load(key: string): { readonly position: Position; readonly row: Row } | undefined;
  /** Keys of the rows whose fields equal these. */
  keysWhere(where: Readonly<Record<string, Scalar>>): readonly string[];
  /** The row that holds these values of a unique index, none of them null. */
  holder(index: IndexSpec, values: readonly Json[]): string | undefined;
}

/** What a batch made of one row. */
export interface FoldedRow {
  position: Position;
  /** Null: the row is gone. */
  row: Row | null;
  /** The row was removed in this batch, whatever came after. */
  removed: boolean;
  /** The row is what parsing its JSON text gives, as it would be had it been stored and read again. */
  parsed: boolean;
  /** Its values of the unique indexes. */
  claims: readonly string[];
}

const NONE: readonly string[] = [];

/**
 * Folds the changes of a batch in memory: each row is read and written once, whatever happens to it. The outcome is the
 * same as storing every change on its own, uniqueness included: it holds after each change.
 */
export class RowFold {
  private readonly rows = new Map<string, FoldedRow>();
  private readonly holders = new Map<string, string>();
  private readonly unique: readonly IndexSpec[];
  private readonly touched = new Set<string>();
  private removes = false;

  constructor(
    private readonly view: string,
    indexes: readonly IndexSpec[],
    private readonly stored: StoredRows,
  ) {
    this.unique = indexes.filter((index) => index.unique === true);
  }

  apply({ position, operations }: RowChange): void {
    for (const operation of operations) this.run(operation, position);
    if (this.unique.length === 0) return;
    this.claim();
    this.touched.clear();
  }

  /** True when rows were removed or fields erased: their content must leave the disk with the next purge. */
  get removesContent(): boolean {
    return this.removes;
  }

  /** The rows that the batch wrote or removed. */
  written(): Iterable<readonly [string, FoldedRow]> {
    return this.rows;
  }

  private run(operation: Operation, position: Position): void {
    switch (operation.op) {
      case 'put':
        return this.put(operation.key, operation.row, position);
      case 'patch':
        return this.change(operation.key, position, (row) => ({ ...row, ...operation.fields }));
      case 'increment':
        return this.change(operation.key, position, (row) => ({
          ...row,
          [operation.field]: increased(row, operation.field, operation.by),
        }));
      case 'add':
        return this.add(operation, position);
      case 'remove':
        return this.remove(operation.key, position);
      case 'removeWhere':
        return this.keysWhere(operation.where).forEach((key) => this.remove(key, position));
      case 'patchWhere':
        return this.keysWhere(operation.where).forEach((key) =>
          this.change(key, position, (row) => ({ ...row, ...operation.fields })),
        );
    }
  }

  private put(key: string, row: Row, position: Position): void {
    // Where values are unique the row is deleted and inserted, so its position cannot be compared by the upsert.
    const before = this.unique.length > 0 ? this.current(key) : this.rows.get(key);
    this.set(key, before, position, row);
  }

  private change(key: string, position: Position, next: (row: Row) => Row): void {
    const before = this.current(key);
    if (before?.row) this.set(key, before, position, next(parsed(before)));
  }

  private add({ key, row, by }: Extract<Operation, { op: 'add' }>, position: Position): void {
    const before = this.current(key);
    const current = before?.row ? parsed(before) : row;
    const sums = Object.entries(by).map(([field, more]) => [field, increased(current, field, more)] as const);
    this.set(key, before, position, { ...current, ...Object.fromEntries(sums) });
  }

  private remove(key: string, position: Position): void {
    const before = this.current(key);
    if (before?.row) this.set(key, before, position, null);
  }

  private set(key: string, before: FoldedRow | undefined, position: Position, row: Row | null): void {
    const folded = before ?? { position, row, removed: false, parsed: false, claims: NONE };
    if (folded.row === null || folded.position < position) folded.position = position;
    folded.row = row;
    folded.removed ||= row === null;
    folded.parsed = false;
    this.rows.set(key, folded);
    if (this.unique.length > 0) this.touched.add(key);
    this.removes ||= row === null || holdsErased(row);
  }

  private current(key: string): FoldedRow | undefined {
    const known = this.rows.get(key);
    if (known !== undefined) return known;
    const stored = this.stored.load(key);
    return stored && { ...stored, removed: false, parsed: true, claims: NONE };
  }

  private keysWhere(where: Readonly<Record<string, Scalar>>): readonly string[] {
    const wanted = Object.entries(where).map(([field, value]) => [field, comparable(value)] as const);
    const untouched = this.stored.keysWhere(where).filter((key) => !this.rows.has(key));
    const folded = [...this.rows].filter(([, entry]) => {
      const row = entry.row && parsed(entry);
      return row && wanted.every(([field, value]) => value !== null && comparable(row[field]) === value);
    });
    return [...untouched, ...folded.map(([key]) => key)];
  }

  /** Gives up the old values of the rows just changed, then takes the new ones; a value that another row holds ends the batch. */
  private claim(): void {
    const changed = [...this.touched].flatMap((key) => {
      const folded = this.rows.get(key);
      return folded ? [{ key, folded }] : [];
    });
    for (const { key, folded } of changed)
      for (const claim of folded.claims) if (this.holders.get(claim) === key) this.holders.delete(claim);
    for (const { key, folded } of changed)
      folded.claims =
        folded.row === null ? NONE : this.unique.flatMap((index) => this.claimed(index, key, parsed(folded)));
  }

  private claimed(index: IndexSpec, key: string, row: Row): readonly string[] {
    const values = index.fields.map(({ field }) => row[field] ?? null);
    if (!values.every((value) => value !== null)) return [];
    const claim = JSON.stringify([index.name, ...values.map(comparable)]);
    const inBatch = this.holders.get(claim);
    const inFile = inBatch === undefined ? this.stored.holder(index, values) : undefined;
    if ((inBatch !== undefined && inBatch !== key) || (inFile !== undefined && !this.rows.has(inFile)))
      throw new UniqueViolation(this.view, index.name, key);
    this.holders.set(claim, key);
    return [claim];
  }
}

/** A row as it reads once stored: what JSON drops or changes is dropped or changed before anything builds on it. */
const parsed = (folded: FoldedRow): Row => {
  if (!folded.parsed) {
    if (!isPlain(folded.row)) folded.row = JSON.parse(JSON.stringify(folded.row)) as Row;
    folded.parsed = true;
  }
  return folded.row as Row;
};

/** True where storing a row and reading it would give the same: most rows hold texts, numbers and lists of them. */
const isPlain = (row: Row | null): boolean => {
  for (const field in row) if (!readsAsItself(row[field])) return false;
  return true;
};

const readsAsItself = (value: Json | undefined): boolean => {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true;
  // JSON has no infinity, and reads -0 as 0.
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  if (!Array.isArray(value)) return false;
  // By index: a list may have holes, which are read as null.
  for (let index = 0; index < value.length; index += 1)
    if (!readsAsItself((value as readonly (Json | undefined)[])[index])) return false;
  return true;
};

/** Runs for every row of a rebuild: without an array of its values. */
const holdsErased = (row: Row): boolean => {
  for (const field in row) if (typeof row[field] === 'object' && isErased(row[field])) return true;
  return false;
};

const increased = (row: Row, field: string, by: number): Json => {
  const value = row[field] ?? 0;
  if (typeof value !== 'number') throw new TypeError(`${field} holds no number that could be increased`);
  return value + by;
};
