import type { ClientSession, mongo } from 'mongoose';
import { comparable, indexBeginningWith, type Scalar } from '../index-choice';
import { type FoldedRow, RowFold, type StoredRows } from '../row-fold';
import type { IndexSpec, Operation, Row, RowChange } from '../read-store';
import type { RowDocument } from './documents';
import { pathOf } from './find-filters';
import { claimPath, claimText } from './row-documents';

/** A row as a batch leaves it. */
export interface WrittenRow {
  readonly key: string;
  readonly position: string;
  /** Null: the row is gone. */
  readonly row: Row | null;
  /** A document of the key stood in the collection before the batch: the row, or what its removal left. */
  readonly existed: boolean;
}

type WhereOperation = Extract<Operation, { readonly where: object }>;
type Found = Pick<RowDocument, '_id' | 'position'> & Partial<Pick<RowDocument, 'row'>>;
type FoundOrRemoved = Pick<RowDocument, '_id'> & Partial<Found>;

/**
 * Reads the rows that a batch touches and folds its changes over them. Nothing may change these rows until what it answers is
 * written. Throws `UniqueViolation`.
 */
export const foldBatch = async (
  rows: mongo.Collection<RowDocument>,
  view: string,
  indexes: readonly IndexSpec[],
  changes: readonly RowChange[],
  session?: ClientSession,
): Promise<readonly WrittenRow[]> => {
  const stored = new FetchedRows(rows, indexes, session);
  await stored.fetch(changes.flatMap(({ operations }) => operations));
  for (;;) {
    const { fold, error } = folded(view, indexes, stored, changes);
    // Who holds a unique value is known only once the fold has asked for it.
    if (await stored.fetchHolders()) continue;
    if (error !== undefined) throw error;
    return [...fold.written()].map(([key, row]) => written(key, row, stored.position(key), stored.exists(key)));
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

const written = (
  key: string,
  { position, row, removed }: FoldedRow,
  before: string | undefined,
  existed: boolean,
): WrittenRow => ({
  key,
  position: before !== undefined && !removed && before > position ? before : position,
  row,
  existed,
});

/** The rows of the collection that a fold may ask for, read ahead. */
class FetchedRows implements StoredRows {
  private readonly rows = new Map<string, Found>();
  private readonly removed = new Set<string>();
  private readonly matches = new Map<string, readonly string[]>();
  private readonly holders = new Map<string, string | undefined>();
  private asked: { readonly index: IndexSpec; readonly claim: string }[] = [];

  constructor(
    private readonly collection: mongo.Collection<RowDocument>,
    private readonly indexes: readonly IndexSpec[],
    private readonly session: ClientSession | undefined,
  ) {}

  /** One read after the other: a session allows no more. */
  async fetch(operations: readonly Operation[]): Promise<void> {
    const wheres = operations.filter((operation): operation is WhereOperation => 'where' in operation);
    for (const { where } of wheres) {
      indexBeginningWith(this.indexes, Object.keys(where));
      const name = JSON.stringify(where);
      if (!this.matches.has(name)) this.matches.set(name, await this.read(filterOf(where)));
    }
    const { whole, headOnly } = this.wantedKeys(operations);
    await this.readKeys(whole);
    await this.readKeys(headOnly, { position: 1 });
  }

  load(key: string): { position: string; row: Row } | undefined {
    const found = this.rows.get(key);
    return found && { position: found.position, row: JSON.parse(found.row ?? '{}') as Row };
  }

  keysWhere(where: Readonly<Record<string, Scalar>>): readonly string[] {
    return this.matches.get(JSON.stringify(where)) ?? [];
  }

  holder(index: IndexSpec, values: readonly (string | number)[]): string | undefined {
    const claim = claimText(values);
    const name = `${index.name} ${claim}`;
    if (!this.holders.has(name)) this.asked.push({ index, claim });
    return this.holders.get(name);
  }

  exists(key: string): boolean {
    return this.rows.has(key) || this.removed.has(key);
  }

  position(key: string): string | undefined {
    return this.rows.get(key)?.position;
  }

  /** Reads the holders that were asked for in vain; true when there are any, so that the fold must be made again. */
  async fetchHolders(): Promise<boolean> {
    const { asked } = this;
    this.asked = [];
    for (const { index, claim } of asked) this.holders.set(`${index.name} ${claim}`, undefined);
    let held = false;
    for (const index of new Set(asked.map((each) => each.index))) {
      const claims = asked.filter((each) => each.index === index).map((each) => each.claim);
      const found = await this.collection
        .find({ [claimPath(index.name)]: { $in: claims } } as mongo.Filter<RowDocument>, {
          projection: { claims: 1 },
          ...this.inSession(),
        })
        .toArray();
      for (const { _id, claims: taken } of found) this.holders.set(`${index.name} ${taken?.[index.name]}`, _id);
      held ||= found.length > 0;
    }
    return held;
  }

  /** Of a row that is put before anything else happens to it only its position matters, unless values are unique. */
  private wantedKeys(operations: readonly Operation[]): {
    readonly whole: readonly string[];
    readonly headOnly: readonly string[];
  } {
    const unique = this.indexes.some((index) => index.unique === true);
    const first = new Map<string, boolean>();
    for (const operation of operations) {
      if ('key' in operation && !first.has(operation.key) && !this.rows.has(operation.key))
        first.set(operation.key, operation.op === 'put' && !unique);
    }
    const keys = [...first.keys()];
    return {
      whole: keys.filter((key) => first.get(key) === false),
      headOnly: keys.filter((key) => first.get(key) === true),
    };
  }

  private async readKeys(keys: readonly string[], projection?: mongo.Document): Promise<void> {
    if (keys.length > 0) await this.read({ _id: { $in: [...keys] } }, projection);
  }

  private async read(
    filter: mongo.Filter<RowDocument>,
    projection: mongo.Document = { position: 1, row: 1 },
  ): Promise<readonly string[]> {
    const found = await this.collection.find<FoundOrRemoved>(filter, { projection, ...this.inSession() }).toArray();
    for (const { _id, position, ...rest } of found) {
      if (position === undefined) this.removed.add(_id);
      else this.rows.set(_id, { _id, position, ...rest });
    }
    return found.map(({ _id }) => _id);
  }

  private inSession(): { session?: ClientSession } {
    return this.session === undefined ? {} : { session: this.session };
  }
}

const filterOf = (where: WhereOperation['where']): mongo.Filter<RowDocument> =>
  Object.fromEntries(Object.entries(where).map(([field, value]) => [pathOf(field), { $eq: comparable(value) }]));
