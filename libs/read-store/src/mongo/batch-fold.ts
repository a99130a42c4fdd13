import type { Json } from '@app/kernel';
import type { ClientSession, mongo } from 'mongoose';
import { indexBeginningWith, type Scalar } from '../index-choice';
import { type FoldedRow, RowFold, type StoredRows } from '../row-fold';
import type { IndexSpec, Operation, Row, RowChange } from '../read-store';
import type { RowDocument } from './documents';
import { equalityFilter } from './find-filters';
import { indexedValue, rowOf } from './row-codec';

/** A row after a batch. */
export interface WrittenRow {
  readonly key: string;
  readonly position: string;
  /** Null: the row is removed. */
  readonly row: Row | null;
  /** True if it was in the collection before the batch. */
  readonly existed: boolean;
}

type WhereOperation = Extract<Operation, { readonly where: object }>;

/**
 * Reads the rows that a batch touches and folds its changes over them. Nothing may change these rows until what it answers is
 * written. Throws `UniqueViolation`.
 */
export const foldBatch = async (
  rows: mongo.Collection<RowDocument>,
  view: string,
  indexes: readonly IndexSpec[],
  changes: readonly RowChange[],
  session: ClientSession,
): Promise<readonly WrittenRow[]> => {
  const stored = new FetchedRows(rows, indexes, session);
  await stored.fetch(changes.flatMap(({ operations }) => operations));
  for (;;) {
    const { fold, error } = folded(view, indexes, stored, changes);
    // The fold must ask before the holder of a unique value is known.
    if (await stored.fetchHolders()) continue;
    if (error !== undefined) throw error;
    return [...fold.written()].map(([key, row]) => written(key, row, stored.position(key)));
  }
};

const folded = (
  view: string,
  indexes: readonly IndexSpec[],
  stored: StoredRows,
  changes: readonly RowChange[],
): { readonly fold: RowFold; readonly error?: unknown } => {
  const fold = new RowFold(view, indexes, stored);
  try {
    for (const change of changes) fold.apply(change);
    return { fold };
  } catch (error) {
    return { fold, error };
  }
};

const written = (key: string, { position, row, removed }: FoldedRow, before: string | undefined): WrittenRow => ({
  key,
  position: before !== undefined && !removed && before > position ? before : position,
  row,
  existed: before !== undefined,
});

/** Rows of the collection, read ahead for a fold. */
class FetchedRows implements StoredRows {
  private readonly rows = new Map<string, RowDocument>();
  /** Keys of rows of which only the position was read. */
  private readonly headOnly = new Set<string>();
  private readonly matches = new Map<string, readonly string[]>();
  private readonly holders = new Map<string, string | undefined>();
  private readonly hasUnique: boolean;
  private asked: { readonly index: IndexSpec; readonly claim: string; readonly values: readonly Json[] }[] = [];

  constructor(
    private readonly collection: mongo.Collection<RowDocument>,
    private readonly indexes: readonly IndexSpec[],
    private readonly session: ClientSession,
  ) {
    this.hasUnique = indexes.some(({ unique }) => unique === true);
  }

  /** Reads one at a time: a session allows no more. */
  async fetch(operations: readonly Operation[]): Promise<void> {
    const wheres = operations.filter((operation): operation is WhereOperation => 'where' in operation);
    // Those that need whole rows first: a `removeWhere` of the same finds them read.
    for (const { op, where } of wheres.toSorted((a, b) => a.op.localeCompare(b.op))) {
      indexBeginningWith(this.indexes, Object.keys(where));
      const name = JSON.stringify(where);
      if (this.matches.has(name)) continue;
      const filter = equalityFilter(where) as mongo.Filter<RowDocument>;
      // A view may lose all rows of a tenant at once, too many to hold whole.
      this.matches.set(
        name,
        await (op === 'removeWhere' && !this.hasUnique ? this.readHeads(filter) : this.read(filter)),
      );
    }
    const { whole, headOnly } = this.wantedKeys(operations);
    if (whole.length > 0) await this.read(byKeys(whole));
    if (headOnly.length > 0) await this.readHeads(byKeys(headOnly));
  }

  load(key: string): { position: string; row: Row } | undefined {
    const found = this.rows.get(key);
    return found && { position: found._meta.position, row: rowOf(found) };
  }

  keysWhere(where: Readonly<Record<string, Scalar>>): readonly string[] {
    return this.matches.get(JSON.stringify(where)) ?? [];
  }

  holder(index: IndexSpec, values: readonly Json[]): string | undefined {
    const claim = claimOf(index, values);
    if (!this.holders.has(claim)) this.asked.push({ index, claim, values });
    return this.holders.get(claim);
  }

  position(key: string): string | undefined {
    return this.rows.get(key)?._meta.position;
  }

  /** Reads the holders that were missing. Returns true if there were any: then the fold must run again. */
  async fetchHolders(): Promise<boolean> {
    const { asked } = this;
    this.asked = [];
    for (const { claim } of asked) this.holders.set(claim, undefined);
    let held = false;
    for (const index of new Set(asked.map((each) => each.index))) {
      const values = asked.filter((each) => each.index === index).map((each) => each.values);
      // With several fields it may find more than needed.
      const filter = Object.fromEntries(
        index.fields.map(({ field }, place) => [field, { $in: values.map((each) => indexedValue(each[place])) }]),
      ) as mongo.Filter<RowDocument>;
      const projection = Object.fromEntries(index.fields.map(({ field }) => [field, 1]));
      const found = await this.collection
        .find(filter, { projection, hint: index.name, session: this.session })
        .toArray();
      for (const document of found) {
        const row = rowOf(document);
        const claim = claimOf(
          index,
          index.fields.map(({ field }) => row[field] ?? null),
        );
        if (!this.holders.has(claim)) continue;
        this.holders.set(claim, document._id);
        held = true;
      }
    }
    return held;
  }

  /** A row that the batch puts first needs only its position read, unless there are unique values. */
  private wantedKeys(operations: readonly Operation[]): {
    readonly whole: readonly string[];
    readonly headOnly: readonly string[];
  } {
    const first = new Map<string, boolean>();
    for (const operation of operations) {
      if (!('key' in operation) || first.has(operation.key)) continue;
      const needsHead = operation.op === 'put' && !this.hasUnique;
      const isRead = this.rows.has(operation.key) && (needsHead || !this.headOnly.has(operation.key));
      if (!isRead) first.set(operation.key, needsHead);
    }
    const keys = [...first.keys()];
    return {
      whole: keys.filter((key) => first.get(key) === false),
      headOnly: keys.filter((key) => first.get(key) === true),
    };
  }

  private async read(filter: mongo.Filter<RowDocument>): Promise<readonly string[]> {
    const found = await this.collection.find(filter, { session: this.session }).toArray();
    for (const document of found) {
      this.rows.set(document._id, document);
      this.headOnly.delete(document._id);
    }
    return found.map(({ _id }) => _id);
  }

  /** Reads positions alone; rows that were read whole stay so. */
  private async readHeads(filter: mongo.Filter<RowDocument>): Promise<readonly string[]> {
    const options = { projection: { _meta: 1 }, session: this.session };
    const found = await this.collection.find(filter, options).toArray();
    for (const document of found) {
      if (this.rows.has(document._id)) continue;
      this.rows.set(document._id, document);
      this.headOnly.add(document._id);
    }
    return found.map(({ _id }) => _id);
  }
}

const byKeys = (keys: readonly string[]): mongo.Filter<RowDocument> => ({ _id: { $in: [...keys] } });

/** The value of a unique index as text. */
const claimOf = ({ name }: IndexSpec, values: readonly Json[]): string => JSON.stringify([name, ...values]);
