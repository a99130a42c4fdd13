import { LRUCache } from 'lru-cache';
import type { Ranked } from '../fusion';
import type { Statements } from './statements';
import { codeOf, codeScores, MOST_SCORE, wordsOf } from './vector-code';
import { blobOf, bytesOf, floatsOf, type NearestQuery, type StoredVector, type Vectors } from './vectors';

/** So many passages are compared exactly, at least; twice as many as are wanted if that is more. Nearest by their codes, all where there are no more. */
const LEAST_COMPARED = 400;
const COMPARED_FOR_EACH = 2;
/** Where codes leave more than so many times as many, they tell too little apart: all are compared. */
const MOST_TIES = 4;
/** Vectors that are in memory at once. */
const AT_ONCE = 5_000;
/** Bytes of codes that are kept in memory. */
const KEPT = 32 * 1024 * 1024;

/** The codes of a scope's passages of one model, in the order of the passages. */
interface ScopeCodes {
  /** State of the scope that they were read in. */
  readonly changed: number;
  readonly passages: Float64Array;
  readonly documents: Float64Array;
  readonly codes: Uint32Array;
}

/**
 * Vectors of an index: each as it is, and a document's together as codes. A search compares the codes of its scopes, then the nearest of
 * them exactly. The tables of sqlite-vec compare exactly alone, 30 times slower, and sort what they find in time by its square.
 */
export class CodedVectors implements Vectors {
  private readonly kept = new LRUCache<string, ScopeCodes>({
    maxSize: KEPT,
    sizeCalculation: ({ passages, documents, codes }) =>
      passages.byteLength + documents.byteLength + codes.byteLength + 100,
  });

  constructor(private readonly statements: Statements) {}

  prepare(_model: number, dimensions: number): void {
    if (dimensions === 0) throw new RangeError('a vector has one dimension at least');
  }

  put({ id, scope }: { readonly id: number; readonly scope: number }, vectors: readonly StoredVector[]): void {
    for (const { passage, values } of vectors)
      this.statements.run('insert into vectors(id, vector) values (?, ?)', passage, blobOf(values));
    const enabled = vectors.filter((vector) => vector.enabled);
    for (const model of new Set(enabled.map((vector) => vector.model))) {
      const coded = enabled.filter((vector) => vector.model === model);
      this.statements.run(
        'insert into codes(model, document, scope, passages, codes) values (?, ?, ?, ?, ?)',
        model,
        id,
        scope,
        blobOf(Float64Array.from(coded, ({ passage }) => passage)),
        Buffer.concat(coded.map(({ values }) => blobOf(codeOf(values)))),
      );
    }
    this.statements.run('update scopes set changed = changed + 1 where id = ?', scope);
  }

  remove(document: number, vectors: readonly Pick<StoredVector, 'passage'>[]): void {
    for (const { passage } of vectors) this.statements.run('delete from vectors where id = ?', passage);
    this.statements.run('delete from codes where document = ?', document);
    this.statements.run(
      'update scopes set changed = changed + 1 where id = (select scope from documents where id = ?)',
      document,
    );
  }

  get({ passage }: Pick<StoredVector, 'passage'>): Float32Array {
    return floatsOf(this.statements.value<Buffer>('select vector from vectors where id = ?', passage) as Buffer);
  }

  nearest({ model, values, scopes, documents }: NearestQuery, wanted: number): readonly Ranked<number>[] {
    const compared = Math.max(LEAST_COMPARED, wanted * COMPARED_FOR_EACH);
    const all = scopes.map((scope) => this.codesOf(scope, model, wordsOf(values.length)));
    const near = nearestByCode(all, values, documents, compared);
    let best: readonly Ranked<number>[] = [];
    for (let from = 0; from < near.length; from += AT_ONCE)
      best = firstOf([...best, ...this.compared(near.slice(from, from + AT_ONCE), values)], wanted);
    return best;
  }

  /** By sqlite-vec, where the vectors are: to hand them over would take as long again. Its answers come in one row. */
  private compared(passages: readonly number[], asked: Float32Array): readonly Ranked<number>[] {
    const [ids, values] = this.statements
      .get(
        `select json_group_array(id), json_group_array(vec_distance_cosine(vector, ?)) from vectors where id in (select value from json_each(?))`,
      )
      .raw()
      .get(asked, JSON.stringify(passages)) as [string, string];
    // One without a direction is at a right angle to all.
    const distances = JSON.parse(values) as (number | null)[];
    return (JSON.parse(ids) as number[]).map((id, at) => ({ id, value: distances[at] ?? 1 }));
  }

  private codesOf(scope: number, model: number, words: number): ScopeCodes {
    const name = `${scope}/${model}`;
    const changed = this.statements.value<number>('select changed from scopes where id = ?', scope) as number;
    const known = this.kept.get(name);
    if (known?.changed === changed) return known;
    const rows = this.statements
      .get('select document, passages, codes from codes where model = ? and scope = ?')
      .raw()
      .all(model, scope) as [number, Buffer, Buffer][];
    const count = rows.reduce((sum, [, passages]) => sum + passages.byteLength / Float64Array.BYTES_PER_ELEMENT, 0);
    const read = {
      changed,
      passages: new Float64Array(count),
      documents: new Float64Array(count),
      codes: new Uint32Array(count * words),
    };
    let at = 0;
    for (const [document, passages, codes] of rows) {
      const ids = new Float64Array(bytesOf(passages));
      read.passages.set(ids, at);
      read.documents.fill(document, at, at + ids.length);
      read.codes.set(new Uint32Array(bytesOf(codes)), at * words);
      at += ids.length;
    }
    this.kept.set(name, read);
    return read;
  }
}

/** The nearest `wanted`, and any others that are as near as the last of them. */
const firstOf = (ranked: readonly Ranked<number>[], wanted: number): readonly Ranked<number>[] => {
  const ordered = ranked.toSorted((a, b) => a.value - b.value);
  const last = ordered[wanted - 1]?.value ?? Infinity;
  const end = ordered.findIndex(({ value }, at) => at >= wanted && value > last);
  return end === -1 ? ordered : ordered.slice(0, end);
};

/**
 * The passages whose codes are nearest: so many, and those that are as near as the last of them, so that it never matters how they are
 * stored. All where the codes leave too many.
 */
const nearestByCode = (
  scopes: readonly ScopeCodes[],
  asked: Float32Array,
  documents: ReadonlySet<number> | undefined,
  wanted: number,
): readonly number[] => {
  const allowed = scopes.map((scope) => ({ ...scope, places: keptPlaces(scope, documents) }));
  const all = (): readonly number[] =>
    allowed.flatMap(({ passages, places }) => Array.from(places, (place) => passages[place] as number));
  if (allowed.reduce((sum, { places }) => sum + places.length, 0) <= wanted) return all();
  const scored = allowed.map(({ passages, places, codes }) => ({
    passages,
    places,
    scores: codeScores(codes, places, asked),
  }));
  const counts = new Uint32Array(MOST_SCORE + 1);
  for (const { scores } of scored)
    for (let at = 0; at < scores.length; at += 1) {
      const score = scores[at] as number;
      counts[score] = (counts[score] as number) + 1;
    }
  let least = MOST_SCORE;
  let count = counts[least] as number;
  while (count < wanted) count += counts[(least -= 1)] as number;
  if (count > wanted * MOST_TIES) return all();
  return scored.flatMap(({ passages, places, scores }) => {
    const found: number[] = [];
    for (let at = 0; at < places.length; at += 1) {
      if ((scores[at] as number) >= least) found.push(passages[places[at] as number] as number);
    }
    return found;
  });
};

/** Of the codes that were read last, and the documents that were asked for last: the same filter often comes again. */
const placesKept = new WeakMap<
  ScopeCodes,
  { readonly documents: ReadonlySet<number> | undefined; readonly places: Uint32Array }
>();

const keptPlaces = (scope: ScopeCodes, documents: ReadonlySet<number> | undefined): Uint32Array => {
  const known = placesKept.get(scope);
  if (known !== undefined && known.documents === documents) return known.places;
  const places = placesOf(scope, documents);
  placesKept.set(scope, { documents, places });
  return places;
};

/** The places of the passages that are of these documents. */
const placesOf = ({ documents: all }: ScopeCodes, documents: ReadonlySet<number> | undefined): Uint32Array => {
  const places = new Uint32Array(all.length);
  let count = 0;
  let [last, isWanted] = [-1, false];
  for (let place = 0; place < all.length; place += 1) {
    const document = all[place] as number;
    if (document !== last) [last, isWanted] = [document, documents?.has(document) ?? true];
    if (isWanted) places[count++] = place;
  }
  return places.subarray(0, count);
};
