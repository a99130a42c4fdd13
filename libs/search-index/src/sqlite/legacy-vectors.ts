import type { Ranked } from '../fusion';
import { withTies } from './found-passage';
import type { Statements } from './statements';
import { floatsOf, type NearestQuery, type StoredVector, type Vectors } from './vectors';

const table = (model: number): string => `vectors_${model}`;

/** Vectors as 1.5.0 stored them, by sqlite-vec: such a version answers until it is rebuilt. */
export class LegacyVectors implements Vectors {
  constructor(private readonly statements: Statements) {}

  prepare(model: number, dimensions: number): void {
    this.statements.db.exec(
      `create virtual table ${table(model)} using vec0(scope integer partition key, embedding float[${dimensions}] distance_metric=cosine, chunk_size=128)`,
    );
  }

  put({ scope }: { readonly scope: number }, vectors: readonly StoredVector[]): void {
    for (const { model, passage, enabled, values } of vectors)
      this.statements.run(
        `insert into ${table(model)}(rowid, scope, embedding) values (?, ?, ?)`,
        BigInt(passage),
        BigInt(enabled ? scope : 0),
        values,
      );
  }

  remove(_document: number, vectors: readonly Pick<StoredVector, 'passage' | 'model'>[]): void {
    for (const { model, passage } of vectors)
      this.statements.run(`delete from ${table(model)} where rowid = ?`, BigInt(passage));
  }

  get({ model, passage }: Pick<StoredVector, 'passage' | 'model'>): Float32Array {
    return floatsOf(
      this.statements.value<Buffer>(`select embedding from ${table(model)} where rowid = ?`, BigInt(passage)) as Buffer,
    );
  }

  nearest(asked: NearestQuery, wanted: number): readonly Ranked<number>[] {
    return withTies(wanted, (limit) => this.ranked(asked, limit));
  }

  private ranked({ model, values, scopes, documents }: NearestQuery, limit: number): readonly Ranked<number>[] {
    const filter = documents === undefined ? [] : [JSON.stringify([...documents])];
    const sql = `select rowid as id, distance as value from ${table(model)} where embedding match ? and k = ? and scope = ?${
      documents === undefined
        ? ''
        : ' and rowid in (select id from passages where document in (select value from json_each(?)))'
    }`;
    return scopes
      .flatMap((scope) => this.statements.rows<Ranked<number>>(sql, values, limit, BigInt(scope), ...filter))
      .toSorted((a, b) => a.value - b.value)
      .slice(0, limit);
  }
}
