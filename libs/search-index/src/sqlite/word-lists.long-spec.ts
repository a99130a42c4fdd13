import Database from 'better-sqlite3';
import { bestOf, bm25 } from './bm25';
import { prepareIndex } from './index-file';
import { idsOfScope } from './layout';
import { Statements } from './statements';
import { countOf, countsOf, placeOf, ROWS_OF_BLOCK, WordLists } from './word-lists';

const opened = () => {
  const db = new Database(':memory:');
  prepareIndex(db);
  const lists = new WordLists(new Statements(db), 'passage_words');
  const put: WordLists['put'] = (...given) => {
    lists.put(...given);
    lists.flush();
  };
  return { db, lists, put };
};
const idOf = (scope: number, row: number): number => idsOfScope(scope)[0] + row;
const rows = (scope: number, texts: readonly string[], from = 0) =>
  texts.map((text, at) => ({ id: idOf(scope, from + at), counts: countsOf([text]) }));
const asked = (text: string) => countsOf([text]);
let states = 0;
/** Of a file that may have changed since the last time. */
const scoresOf = (
  lists: WordLists,
  words: ReadonlyMap<string, number>,
  scopes: readonly number[],
  isWanted?: (id: number) => boolean,
) => {
  const { ids, scores } = bm25(lists, { words, scopes, state: `${(states += 1)}`, isWanted });
  return new Map([...ids].map((id, at) => [id, scores[at] as number]));
};
/** A repeatable choice among some. */
const choices =
  (seed: number) =>
  (most: number): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed % most;
  };

/** The formula, one row after the other. */
const plainly = (texts: readonly string[], words: readonly string[]): readonly number[] => {
  const split = texts.map((text) => text.split(' '));
  const average = split.reduce((sum, each) => sum + each.length, 0) / split.length;
  return split.map((row) =>
    words.reduce((sum, word) => {
      const holding = split.filter((each) => each.includes(word)).length;
      const count = row.filter((each) => each === word).length;
      const weight = Math.log(1 + (split.length - holding + 0.5) / (holding + 0.5));
      return sum + (weight * count * 2.2) / (count + 1.2 * (0.25 + (0.75 * row.length) / average));
    }, 0),
  );
};

describe('lists of words', () => {
  it('score rows by BM25, over several blocks', () => {
    const { lists, put } = opened();
    const next = choices(3);
    const texts = Array.from({ length: 2 * ROWS_OF_BLOCK + 7 }, () =>
      Array.from({ length: 3 + next(9) }, () => `w${next(2) === 0 ? next(4) : next(300)}`).join(' '),
    );
    // As documents come: each behind those before, also within a block.
    for (let from = 0; from < texts.length; from += 50) put(1, rows(1, texts.slice(from, from + 50), from));
    const scores = scoresOf(lists, asked('w1 w7 w1 w299 unknown'), [1]);
    const expected = plainly(texts, ['w1', 'w7', 'w1', 'w299']);
    expect(scores.size).toBe(expected.filter((score) => score > 0).length);
    for (const [id, score] of scores) expect(score).toBeCloseTo(expected[id - idOf(1, 0)] as number, 9);
  });

  it('count what other scopes hold nowhere, and what filters leave out', () => {
    const { lists, put } = opened();
    put(1, rows(1, ['ferry harbour', 'ferry', 'night train']));
    const alone = scoresOf(lists, asked('ferry harbour'), [1]);
    put(2, rows(2, ['harbour', 'harbour harbour', 'harbour at night']));
    expect(scoresOf(lists, asked('ferry harbour'), [1])).toEqual(alone);
    expect([...scoresOf(lists, asked('ferry harbour'), [1, 2]).keys()]).toEqual([
      idOf(1, 0),
      idOf(1, 1),
      idOf(2, 0),
      idOf(2, 1),
      idOf(2, 2),
    ]);
    expect(scoresOf(lists, asked('ferry harbour'), [1], (id) => id === idOf(1, 1))).toEqual(
      new Map([[idOf(1, 1), alone.get(idOf(1, 1)) as number]]),
    );
  });

  it('read how long rows are once for a state of the file', () => {
    const { lists, put } = opened();
    const all = jest.spyOn(lists, 'of');
    const ask = (state: string) => bm25(lists, { words: asked('ferry'), scopes: [1], state }).scores;
    put(1, rows(1, ['ferry', 'ferry harbour']));
    const [first] = [ask('1'), all.mockClear()];
    expect([ask('1'), all.mock.calls]).toEqual([first, [[1, 'ferry']]]);
    put(1, rows(1, ['a night train'], 2));
    expect(ask('2')[0]).not.toBe(first[0]);
    expect(scoresOf(lists, asked('ferry'), [1]).size).toBe(2);
  });

  it('hold nothing more of rows that were removed, whatever stood beside them', () => {
    const { db, lists, put } = opened();
    const kept = Array.from({ length: ROWS_OF_BLOCK }, (_, row) => `kept w${row % 5}`);
    put(1, rows(1, kept));
    const before = scoresOf(lists, asked('kept w3'), [1]);
    const gone = rows(1, ['kept secret', 'secret w3 w3'], kept.length);
    put(1, gone);
    expect(lists.of(1, 'secret').map(({ block, entries }) => [block, entries.length])).toEqual([[1, 2]]);
    lists.remove(
      1,
      gone.map(({ id }) => id),
      ['kept', 'secret', 'w3'],
    );
    expect(scoresOf(lists, asked('kept w3 secret'), [1])).toEqual(before);
    expect(db.prepare("select count(*) from passage_words where word = 'secret' or block = 1").pluck().get()).toBe(0);
  });

  it('know how often a word stands in a row, up to two million times', () => {
    const { lists, put } = opened();
    put(1, [{ id: idOf(1, ROWS_OF_BLOCK + 9), counts: new Map([['much', 3_000_000]]) }]);
    expect(lists.of(1, 'much').flatMap(({ entries }) => Array.from(entries, (e) => [placeOf(e), countOf(e)]))).toEqual([
      [9, 2 ** 21 - 1],
    ]);
  });

  it('are written once for all that a batch added, and never where it is forgotten', () => {
    const { db, lists } = opened();
    const writes = jest.spyOn(Statements.prototype, 'run');
    lists.put(1, rows(1, ['ferry harbour']));
    lists.put(1, rows(1, ['ferry'], 1));
    lists.flush();
    // Both words, and how many words each row has.
    expect(writes).toHaveBeenCalledTimes(3);
    lists.put(1, rows(1, ['ferry'], 2));
    lists.forget();
    lists.flush();
    expect(lists.of(1, 'ferry').map(({ entries }) => entries.length)).toEqual([2]);
    // What is taken out again in the same batch is not left behind.
    lists.put(1, rows(1, ['ferry'], 2));
    lists.remove(1, [idOf(1, 2)], ['ferry']);
    lists.flush();
    expect(lists.of(1, 'ferry').map(({ entries }) => entries.length)).toEqual([2]);
    expect(db.prepare('select count(*) from passage_words').pluck().get()).toBe(3);
  });

  it('say in which scopes a word stands', () => {
    const { lists, put } = opened();
    put(1, rows(1, ['ferry']));
    put(3, rows(3, ['ferry harbour']));
    expect([lists.scopesWith('ferry', [3, 2, 1]), lists.scopesWith('harbour', [1, 3])]).toEqual([[3, 1], [3]]);
  });
});

it('the best so many are answered with those that are as good as the last', () => {
  const scored = { ids: Float64Array.of(1, 2, 3, 4), scores: Float64Array.of(2, 1, 3, 2) };
  const best = (wanted: number) => bestOf(scored, wanted).map(({ id }) => id);
  expect([best(1), best(2), best(4), best(9)]).toEqual([[3], [1, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4]]);
});
