import type { Row, StoredRow } from '../read-store';

interface Entry {
  readonly stored: StoredRow;
  /** Commit that wrote the row. */
  readonly changed: number;
  /** State of the change board at which the row was last known to be this. */
  seen: number;
  readonly size: number;
}

/** Parsed rows, those used last, up to a number of characters of JSON text. Rows are frozen in depth, since everybody gets the same object. */
export class RowCache {
  private readonly entries = new Map<string, Entry>();
  private size = 0;

  constructor(private readonly capacity: number) {}

  get(key: string): Entry | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry;
  }

  set(key: string, found: { readonly key: string; readonly position: string; readonly changed: number; readonly row: string }, seen: number): StoredRow {
    this.delete(key);
    const stored = Object.freeze({ key: found.key, position: found.position, row: frozen(JSON.parse(found.row) as Row) });
    const size = found.row.length + 200;
    if (size > this.capacity / 10) return stored;
    this.entries.set(key, { stored, changed: found.changed, seen, size });
    this.size += size;
    for (const oldest of this.entries.keys()) {
      if (this.size <= this.capacity) break;
      this.delete(oldest);
    }
    return stored;
  }

  delete(key: string): void {
    this.size -= this.entries.get(key)?.size ?? 0;
    this.entries.delete(key);
  }

  clear(): void {
    this.entries.clear();
    this.size = 0;
  }
}

const frozen = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) frozen(part);
    Object.freeze(value);
  }
  return value;
};
