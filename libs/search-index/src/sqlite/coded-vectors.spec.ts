import Database from 'better-sqlite3';
import { CodedVectors } from './coded-vectors';
import { prepareIndex, withVectors } from './index-file';
import { Statements } from './statements';
import { codeOf, codeScores, MOST_SCORE } from './vector-code';

const DIMENSIONS = 100;
const MODEL = 1;

/** A repeatable stream of numbers from -1 to 1. */
const numbers = (seed: number) => (): number => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 2 ** 31 - 1;
};
const next = numbers(7);
const vector = (): Float32Array => Float32Array.from({ length: DIMENSIONS }, next);

const opened = () => {
  const db = withVectors(new Database(':memory:'));
  prepareIndex(db);
  for (const id of [1, 2]) db.prepare('insert into scopes(id, scope) values (?, ?)').run(id, `s:${id}`);
  return new CodedVectors(new Statements(db));
};
const all: Float32Array[] = Array.from({ length: 3_000 }, vector);
/** Ten vectors a document, the first half of them in scope 1. */
const filled = (order: (ids: readonly number[]) => readonly number[] = (ids) => ids) => {
  const vectors = opened();
  for (const id of order([...Array(all.length / 10).keys()]))
    vectors.put(
      { id, scope: id < 150 ? 1 : 2 },
      all
        .slice(id * 10, id * 10 + 10)
        .map((values, at) => ({ passage: id * 10 + at, model: MODEL, enabled: true, values })),
    );
  return vectors;
};
/** 1 less the cosine of the angle between two vectors. */
const cosineDistance = (a: Float32Array, b: Float32Array): number =>
  1 - a.reduce((sum, value, at) => sum + value * (b[at] as number), 0) / (Math.hypot(...a) * Math.hypot(...b));
const exactly = (asked: Float32Array, passages: readonly number[]): readonly number[] =>
  passages
    .map((id) => ({ id, value: cosineDistance(all[id] as Float32Array, asked) }))
    .toSorted((a, b) => a.value - b.value)
    .map(({ id }) => id);
const idsOf = (ranked: readonly { readonly id: number }[]) => ranked.map(({ id }) => id);

const FIRST = Uint32Array.of(0);

describe('codes of vectors', () => {
  it('score between 0 and the most: opposite, and the same signs', () => {
    const asked = vector();
    const codes = [asked, asked.map((value) => -value)].map((values) => codeOf(values));
    const [same, opposite] = codes.map((code) => codeScores(code, FIRST, asked)[0] as number);
    expect(same).toBeGreaterThan(MOST_SCORE - 2);
    expect(same).toBeLessThanOrEqual(MOST_SCORE);
    expect(opposite).toBe(0);
  });

  it('score nothing where the query has no direction', () => {
    const none = new Float32Array(DIMENSIONS);
    expect([...codeScores(codeOf(vector()), FIRST, none)]).toEqual([0]);
  });
});

describe('the nearest vectors', () => {
  const vectors = filled();

  it('are mostly those that exact comparison finds, exactly in order', () => {
    const asked = Array.from({ length: 20 }, vector);
    const found = asked.map((values) => idsOf(vectors.nearest({ model: MODEL, values, scopes: [1, 2] }, 20)));
    const exact = asked.map((values) => exactly(values, [...all.keys()]));
    const hits = found.map((ids, at) => ids.filter((id) => exact[at]?.slice(0, 20).includes(id)).length);
    expect(hits.reduce((sum, count) => sum + count) / (20 * 20)).toBeGreaterThan(0.9);
    for (const [at, ids] of found.entries()) expect(exact[at]?.filter((id) => ids.includes(id))).toEqual(ids);
  });

  it('are found exactly where few are left by scopes and documents', () => {
    const values = vector();
    const documents = new Set([3, 40, 149, 150]);
    const left = [3, 40, 149].flatMap((id) => Array.from({ length: 10 }, (_, at) => id * 10 + at));
    expect(idsOf(vectors.nearest({ model: MODEL, values, scopes: [1], documents }, 30))).toEqual(exactly(values, left));
    expect(vectors.nearest({ model: MODEL, values, scopes: [1], documents: new Set() }, 30)).toEqual([]);
    expect(vectors.nearest({ model: 9, values, scopes: [1] }, 30)).toEqual([]);
  });

  it('are at a right angle where one has no direction', () => {
    const none = new Float32Array(DIMENSIONS);
    const values = vector();
    const few = opened();
    for (const [id, each] of [values.map((value) => -value), none, values].entries())
      few.put({ id, scope: 1 }, [{ passage: id, model: MODEL, enabled: true, values: each }]);
    const nearest = (asked: Float32Array) => few.nearest({ model: MODEL, values: asked, scopes: [1] }, 9);
    expect(nearest(values).map(({ id, value }) => [id, Math.round(value)])).toEqual([
      [2, 0],
      [1, 1],
      [0, 2],
    ]);
    expect(nearest(none).map(({ value }) => value)).toEqual([1, 1, 1]);
  });

  it('come with all that are as near as the last, and no others', () => {
    const values = vector();
    const same = opened();
    const far = values.map((value, at) => (at < 50 ? -value : value));
    for (let id = 0; id < 1_000; id += 1)
      same.put({ id, scope: 1 }, [{ passage: id, model: MODEL, enabled: true, values: id % 5 === 0 ? values : far }]);
    const nearest = (wanted: number) => idsOf(same.nearest({ model: MODEL, values, scopes: [1] }, wanted));
    expect([nearest(1).length, nearest(200).length, nearest(201).length]).toEqual([200, 200, 1_000]);
    expect(nearest(3).every((id) => id % 5 === 0)).toBe(true);
  });

  it('are the same however they were stored', () => {
    const again = filled((ids) => ids.toReversed());
    const values = vector();
    const asked = { model: MODEL, values, scopes: [1, 2] };
    expect(again.nearest(asked, 50)).toEqual(vectors.nearest(asked, 50));
  });

  it('are found exactly where codes tell nothing apart', () => {
    const positive = opened();
    const same = Array.from({ length: 2_000 }, () => vector().map(Math.abs));
    for (const [id, values] of same.entries())
      positive.put({ id, scope: 1 }, [{ passage: id, model: MODEL, enabled: true, values }]);
    const values = vector().map(Math.abs);
    const exact = [...same.keys()].toSorted(
      (a, b) => cosineDistance(same[a] as Float32Array, values) - cosineDistance(same[b] as Float32Array, values),
    );
    expect(idsOf(positive.nearest({ model: MODEL, values, scopes: [1] }, 5))).toEqual(exact.slice(0, 5));
  });

  it('are read anew once a document came or went', () => {
    const changing = filled();
    const values = vector();
    const nearest = () => idsOf(changing.nearest({ model: MODEL, values, scopes: [1] }, 1))[0];
    nearest();
    changing.put({ id: 999, scope: 1 }, [{ passage: 9_990, model: MODEL, enabled: true, values }]);
    expect(nearest()).toBe(9_990);
    changing.put({ id: 998, scope: 1 }, [{ passage: 9_980, model: MODEL, enabled: false, values }]);
    expect(nearest()).toBe(9_990);
    expect([...changing.get({ passage: 9_980 })]).toEqual([...values]);
  });
});
