import { type Clustered, clustersOf } from './clusters';
import { likelyClusters } from './estimate';
import { sectionsOf } from './sections';

/** A unit vector that points to one of some themes, a little beside it. */
const vectorNear = (theme: number, wobble: number): Float32Array => {
  const vector = new Float32Array(16);
  vector[theme] = 1;
  vector[(theme + 7) % 16] = 0.1 * Math.sin(wobble);
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
};
const items = (themes: number, ofEach: number): Clustered[] =>
  Array.from({ length: themes * ofEach }, (_, index) => ({
    id: `${index % themes}/${index}`,
    vector: vectorNear(index % themes, index),
  }));
const idsOf = (clusters: readonly (readonly Clustered[])[]): string[][] =>
  clusters.map((cluster) => cluster.map(({ id }) => id));
const themesOf = (cluster: readonly Clustered[]): string[] => [
  ...new Set(cluster.map(({ id }) => id.split('/')[0] ?? '')),
];

describe('clusters', () => {
  it('hold what is alike, at most 8 each, and every item once', async () => {
    const all = items(4, 7);
    const clusters = await clustersOf(all);
    expect(clusters.map(themesOf)).toEqual(expect.arrayContaining([['0'], ['1'], ['2'], ['3']]));
    expect(clusters.every(({ length }) => length >= 3 && length <= 8)).toBe(true);
    expect(idsOf(clusters).flat().toSorted()).toEqual(all.map(({ id }) => id).toSorted());
  });

  it('are the same for the same items', async () =>
    expect(idsOf(await clustersOf(items(5, 30)))).toEqual(idsOf(await clustersOf(items(5, 30)))));

  it.each([0, 1, 2, 8, 9, 10, 17, 100, 1_000])('of %i items are about as many as are estimated', async (count) => {
    const clusters = await clustersOf(items(1, count));
    const [likely = count] = likelyClusters(count);
    expect(Math.abs(clusters.length - likely)).toBeLessThanOrEqual(1 + likely / 4);
    expect(clusters.flat()).toHaveLength(count);
  });

  it('come without vectors too', async () => {
    const clusters = await clustersOf(Array.from({ length: 20 }, (_, index) => ({ id: String(index) })));
    expect(clusters.every(({ length }) => length >= 3 && length <= 8)).toBe(true);
  });

  it('stay when others come or go', async () => {
    const before = await clustersOf(items(6, 6));
    const clusterOf = new Map(
      before.flatMap((cluster, index) => cluster.map(({ id }) => [id, String(index)] as const)),
    );
    const recall = (id: string) => clusterOf.get(id);
    expect(idsOf(await clustersOf(items(6, 6), recall))).toEqual(idsOf(before));

    const fresh = { id: '3/new', vector: vectorNear(3, 1) };
    const after = idsOf(await clustersOf([...before.flat(), fresh], recall));
    const changed = after.filter((ids) => !idsOf(before).some((old) => old.join() === ids.join()));
    expect(changed).toEqual([expect.arrayContaining(['3/new', '3/3'])]);

    const gone = before[2]?.[0]?.id;
    const less = idsOf(
      await clustersOf(
        before.flat().filter(({ id }) => id !== gone),
        recall,
      ),
    );
    expect(less.filter((ids) => !idsOf(before).some((old) => old.join() === ids.join()))).toHaveLength(1);
  });
});

describe('sections', () => {
  const chunk = (id: number, heading = 'All', theme = 0) => ({
    id,
    headings: [heading],
    vector: vectorNear(theme, id),
  });
  const cut = (chunks: readonly ReturnType<typeof chunk>[]): number[] => sectionsOf(chunks).map(({ length }) => length);

  it('begin under a new heading, and where the subject changes', () => {
    const headed = Array.from({ length: 15 }, (_, index) => chunk(index, `Part ${Math.floor(index / 5)}`));
    expect(cut(headed)).toEqual([5, 5, 5]);
    const turning = Array.from({ length: 12 }, (_, index) => chunk(0, 'All', index < 5 ? 0 : 1));
    expect(cut(turning)).toEqual([5, 7]);
  });

  it.each([1, 2, 3, 4, 7, 8, 9, 11, 12, 13, 50, 333])('of %i chunks have 4 to 8 of them', (count) => {
    const chunks = Array.from({ length: count }, (_, index) => chunk(index, `Part ${Math.floor(index / 3)}`));
    const lengths = cut(chunks);
    expect(sectionsOf(chunks).flat()).toEqual(chunks);
    if (count >= 4) expect(lengths.filter((length) => length < 4 || length > 8)).toEqual([]);
    expect(lengths.length).toBeLessThanOrEqual(Math.max(1, Math.floor(count / 4)));
  });

  it('change only around a change in the text', () => {
    const before = Array.from({ length: 60 }, (_, index) => chunk(index, `Part ${Math.floor(index / 6)}`));
    const after = [...before.slice(0, 20), chunk(999, 'Part 3'), ...before.slice(20)];
    const keys = (chunks: typeof before) => sectionsOf(chunks).map((section) => section.map(({ id }) => id).join());
    const old = new Set(keys(before));
    expect(keys(after).filter((key) => !old.has(key))).toHaveLength(1);
  });

  it('are none of no chunks', () => expect(sectionsOf([])).toEqual([]));
});
