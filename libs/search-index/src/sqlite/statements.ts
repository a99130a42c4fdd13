import type Database from 'better-sqlite3';

/** The prepared statements of a connection, each prepared once. */
export class Statements {
  private readonly prepared = new Map<string, Database.Statement>();

  constructor(readonly db: Database.Database) {}

  get(sql: string): Database.Statement {
    const known = this.prepared.get(sql) ?? this.db.prepare(sql);
    this.prepared.set(sql, known);
    return known;
  }

  run(sql: string, ...parameters: readonly unknown[]): Database.RunResult {
    return this.get(sql).run(...parameters);
  }

  rows<T>(sql: string, ...parameters: readonly unknown[]): readonly T[] {
    return this.get(sql).all(...parameters) as T[];
  }

  /** The values of one column. */
  values<T>(sql: string, ...parameters: readonly unknown[]): readonly T[] {
    return this.get(sql)
      .pluck()
      .all(...parameters) as T[];
  }

  value<T>(sql: string, ...parameters: readonly unknown[]): T | undefined {
    return this.get(sql)
      .pluck()
      .get(...parameters) as T | undefined;
  }
}
