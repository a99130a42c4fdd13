import { setImmediate as nextTurn } from 'node:timers/promises';

/** Cosine of two unit vectors of one model, -1 to 1; 0 where one is missing, or they are of different models. */
export const similarity = (a: Float32Array | undefined, b: Float32Array | undefined): number => {
  if (a === undefined || b === undefined || a.length !== b.length) return 0;
  let sum = 0;
  for (let index = 0; index < a.length; index += 1) sum += (a[index] as number) * (b[index] as number);
  return sum;
};

/** The direction of some vectors together, of length one; undefined where none has one. Those of other lengths than the first do not count. */
const centroid = (vectors: readonly (Float32Array | undefined)[]): Float32Array | undefined => {
  const [first] = vectors.filter((vector) => vector !== undefined);
  if (first === undefined) return undefined;
  const sum = new Float32Array(first.length);
  for (const vector of vectors) {
    if (vector?.length !== sum.length) continue;
    for (let index = 0; index < sum.length; index += 1) sum[index] = (sum[index] as number) + (vector[index] as number);
  }
  const length = Math.sqrt(similarity(sum, sum));
  return length === 0 ? undefined : sum.map((value) => value / length);
};

/** Members that a cluster has at least, where there are as many, and at most. */
export const FEWEST_IN_CLUSTER = 3;
export const MOST_IN_CLUSTER = 8;
/** Rounds of moving the two centres of a cut. */
const ROUNDS = 6;
/** A cut leaves at least this share on either side, so that few cuts suffice. */
const SMALLER_SIDE = 0.25;
/** Members handled without letting anybody else run. */
const STRIDE = 500;

/** What is clustered: a summary, or the only chunk of a document. */
export interface Clustered {
  readonly id: string;
  readonly vector?: Float32Array | undefined;
}

/**
 * Clusters of at most 8 items that are alike. Items that were in one cluster before (`clusterOf`) stay together, so that a change
 * reaches few of them; new ones join the nearest cluster that has a place left, and what finds none is cut by bisecting spherical
 * k-means. A cluster of one comes out where nothing is left to join it. The same for the same items in the same order, in which
 * clusters and their members come.
 */
export const clustersOf = async <Item extends Clustered>(
  items: readonly Item[],
  clusterOf: (id: string) => string | undefined = () => undefined,
): Promise<readonly (readonly Item[])[]> => {
  if (items.length <= MOST_IN_CLUSTER) return items.length === 0 ? [] : [items];
  const before = new Map<string, Item[]>();
  const unclustered: Item[] = [];
  for (const item of items) {
    const cluster = clusterOf(item.id);
    if (cluster === undefined) unclustered.push(item);
    else before.set(cluster, [...(before.get(cluster) ?? []), item]);
  }
  const kept: Item[][] = [];
  for (const members of before.values()) {
    if (members.length >= FEWEST_IN_CLUSTER && members.length <= MOST_IN_CLUSTER) kept.push(members);
    else unclustered.push(...members);
  }
  const homeless = await joined(kept, unclustered);
  return inOrder(items, [...kept, ...(await bisected(homeless))]);
};

/** However they came together, clusters of the same items are the same. */
const inOrder = <Item>(
  items: readonly Item[],
  clusters: readonly (readonly Item[])[],
): readonly (readonly Item[])[] => {
  const places = new Map(items.map((item, place) => [item, place]));
  const placeOf = (item: Item | undefined): number => (item === undefined ? 0 : (places.get(item) ?? 0));
  return clusters
    .map((cluster) => cluster.toSorted((a, b) => placeOf(a) - placeOf(b)))
    .toSorted(([a], [b]) => placeOf(a) - placeOf(b));
};

/** Adds items to the nearest clusters that have places left. Answers those that found none. */
const joined = async <Item extends Clustered>(
  clusters: readonly Item[][],
  items: readonly Item[],
): Promise<readonly Item[]> => {
  const centres = clusters.map((members) => centroid(members.map(({ vector }) => vector)));
  const homeless: Item[] = [];
  for (const [count, item] of items.entries()) {
    let best: { readonly index: number; readonly close: number } | undefined;
    for (const [index, members] of clusters.entries()) {
      const close = similarity(centres[index], item.vector);
      if (members.length < MOST_IN_CLUSTER && (best === undefined || close > best.close)) best = { index, close };
    }
    if (best === undefined) homeless.push(item);
    else clusters[best.index]?.push(item);
    if (count % 10 === 9) await nextTurn();
  }
  return homeless;
};

const bisected = async <Item extends Clustered>(items: readonly Item[]): Promise<readonly (readonly Item[])[]> => {
  if (items.length <= MOST_IN_CLUSTER) return items.length === 0 ? [] : [items];
  const [left, right] = await cutInTwo(items);
  return [...(await bisected(left)), ...(await bisected(right))];
};

/** Two sides by k-means from the two items that are least alike, neither of them too small. */
const cutInTwo = async <Item extends Clustered>(
  items: readonly Item[],
): Promise<readonly [readonly Item[], readonly Item[]]> => {
  const middle = centroid(items.map(({ vector }) => vector));
  const one = leastLike(items, middle);
  const other = leastLike(items, one);
  let centres = [one, other] as const;
  let sides: readonly (readonly [item: Item, lean: number])[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    sides = items.map((item) => [item, similarity(centres[0], item.vector) - similarity(centres[1], item.vector)]);
    const vectors = (isLeft: boolean) => sides.filter(([, lean]) => lean >= 0 === isLeft).map(([{ vector }]) => vector);
    centres = [centroid(vectors(true)) ?? centres[0], centroid(vectors(false)) ?? centres[1]];
    if (items.length > STRIDE || round === 0) await nextTurn();
  }
  const ordered = sides.toSorted(([, a], [, b]) => b - a).map(([item]) => item);
  const fewest = Math.max(FEWEST_IN_CLUSTER, Math.ceil(items.length * SMALLER_SIDE));
  const natural = sides.filter(([, lean]) => lean >= 0).length;
  const cut = Math.min(Math.max(natural, fewest), items.length - fewest);
  return [ordered.slice(0, cut), ordered.slice(cut)];
};

const leastLike = (items: readonly Clustered[], vector: Float32Array | undefined): Float32Array | undefined => {
  let least: { readonly vector: Float32Array; readonly close: number } | undefined;
  for (const item of items) {
    if (item.vector === undefined) continue;
    const close = similarity(item.vector, vector);
    if (least === undefined || close < least.close) least = { vector: item.vector, close };
  }
  return least?.vector;
};
