import type { Operation, ReadStore, Row, RowBatch, RowChange, StoredRow, ViewSpec } from './read-store';

/** A store to put under test. */
export interface ReadStoreUnderTest {
  readonly store: ReadStore;
  /** Opens the same data again, as after a restart. */
  reopen(): Promise<ReadStore>;
  destroy(): Promise<void>;
}

const indexes: ViewSpec['indexes'] = [
  { name: 'by-space', fields: [{ field: 'spaceId' }, { field: 'createdAt', order: 'desc' }] },
  { name: 'by-archived', fields: [{ field: 'spaceId' }, { field: 'archived' }] },
  { name: 'by-rank', fields: [{ field: 'rank' }, { field: 'name', order: 'desc' }] },
  { name: 'slugs', fields: [{ field: 'slug' }], unique: true },
];

/** A position; text that orders as the numbers do. */
export const at = (number: number): string => String(number).padStart(6, '0');
export const change = (number: number, ...operations: readonly Operation[]): RowChange => ({
  position: at(number),
  operations,
});
export const put = (key: string, row: Row): Operation => ({ op: 'put', key, row });

/** A view of its own for one test, in a store that serves all tests. */
export class TestView {
  constructor(
    readonly name: string,
    readonly store: ReadStore,
  ) {}

  /** Most views have no unique values: stores read less of their rows. */
  spec(version = 1, { isUnique = true }: { isUnique?: boolean } = {}): ViewSpec {
    return { name: this.name, version, indexes: indexes.filter(({ unique }) => isUnique || unique !== true) };
  }

  /** Commits changes where the view stands. */
  async commit(changes: readonly RowChange[], given: Partial<RowBatch> = {}): Promise<void> {
    const from = (await this.store.checkpoint(this.name, given.version ?? 1))?.position ?? null;
    await this.store.commit({
      view: this.name,
      version: 1,
      from,
      to: { position: changes.at(-1)?.position ?? from, handled: 0 },
      fence: 1,
      changes,
      ...given,
    });
  }

  async row(key: string): Promise<Row | undefined> {
    return (await this.store.get(this.name, key))?.row;
  }

  everything(version = 1): Promise<readonly StoredRow[]> {
    return this.store.scan(this.name, version, null, 10_000);
  }
}
