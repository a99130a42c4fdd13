import { setImmediate as nextTurn } from 'node:timers/promises';
import { centroid, similarity } from './vectors';

/** Things that a cluster has at least, where there are as many, and at most. */
export const FEWEST_IN_CLUSTER = 3;
export const MOST_IN_CLUSTER = 8;
/** Rounds of moving the two centres of a cut. */
const ROUNDS = 6;
/** A cut leaves at least this share on either side, so that few cuts suffice. */
const SMALLER_SIDE = 0.25;
/** Things handled without letting anybody else run. */
const STRIDE = 500;

/** What is clustered: a summary, or the only chunk of a document. */
export interface Clustered {
  readonly id: string;
  readonly vector?: Float32Array | undefined;
}

/**
 * Clusters of at most 8 things that are alike. Things that were in one cluster before (`clusterOf`) stay together, so that a change
 * reaches few of them; new ones join the nearest cluster that has a place left, and what finds none is cut by bisecting spherical
 * k-means. A cluster of one comes out where nothing is left to join it. The same for the same things in the same order, in which
 * clusters and their members come.
 */
export const clustersOf = async <Thing extends Clustered>(
  things: readonly Thing[],
  clusterOf: (id: string) => string | undefined = () => undefined,
): Promise<readonly (readonly Thing[])[]> => {
  if (things.length <= MOST_IN_CLUSTER) return things.length === 0 ? [] : [things];
  const before = new Map<string, Thing[]>();
  const strangers: Thing[] = [];
  for (const thing of things) {
    const cluster = clusterOf(thing.id);
    if (cluster === undefined) strangers.push(thing);
    else before.set(cluster, [...(before.get(cluster) ?? []), thing]);
  }
  const kept: Thing[][] = [];
  for (const members of before.values()) {
    if (members.length >= FEWEST_IN_CLUSTER && members.length <= MOST_IN_CLUSTER) kept.push(members);
    else strangers.push(...members);
  }
  const homeless = await joined(kept, strangers);
  return inOrder(things, [...kept, ...(await bisected(homeless))]);
};

/** However they came together, clusters of the same things are the same. */
const inOrder = <Thing>(
  things: readonly Thing[],
  clusters: readonly (readonly Thing[])[],
): readonly (readonly Thing[])[] => {
  const places = new Map(things.map((thing, place) => [thing, place]));
  const placeOf = (thing: Thing | undefined): number => (thing === undefined ? 0 : (places.get(thing) ?? 0));
  return clusters
    .map((cluster) => cluster.toSorted((a, b) => placeOf(a) - placeOf(b)))
    .toSorted(([a], [b]) => placeOf(a) - placeOf(b));
};

/** Adds things to the nearest clusters that have places left. Answers those that found none. */
const joined = async <Thing extends Clustered>(
  clusters: readonly Thing[][],
  things: readonly Thing[],
): Promise<readonly Thing[]> => {
  const centres = clusters.map((members) => centroid(members.map(({ vector }) => vector)));
  const homeless: Thing[] = [];
  for (const [count, thing] of things.entries()) {
    let best: { readonly index: number; readonly close: number } | undefined;
    for (const [index, members] of clusters.entries()) {
      const close = similarity(centres[index], thing.vector);
      if (members.length < MOST_IN_CLUSTER && (best === undefined || close > best.close)) best = { index, close };
    }
    if (best === undefined) homeless.push(thing);
    else clusters[best.index]?.push(thing);
    if (count % 10 === 9) await nextTurn();
  }
  return homeless;
};

const bisected = async <Thing extends Clustered>(things: readonly Thing[]): Promise<readonly (readonly Thing[])[]> => {
  if (things.length <= MOST_IN_CLUSTER) return things.length === 0 ? [] : [things];
  const [left, right] = await cutInTwo(things);
  return [...(await bisected(left)), ...(await bisected(right))];
};

/** Two sides by k-means from the two things that are least alike, neither of them too small. */
const cutInTwo = async <Thing extends Clustered>(
  things: readonly Thing[],
): Promise<readonly [readonly Thing[], readonly Thing[]]> => {
  const middle = centroid(things.map(({ vector }) => vector));
  const one = leastLike(things, middle);
  const other = leastLike(things, one);
  let centres = [one, other] as const;
  let sides: readonly (readonly [thing: Thing, lean: number])[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    sides = things.map((thing) => [thing, similarity(centres[0], thing.vector) - similarity(centres[1], thing.vector)]);
    const vectors = (isLeft: boolean) => sides.filter(([, lean]) => lean >= 0 === isLeft).map(([{ vector }]) => vector);
    centres = [centroid(vectors(true)) ?? centres[0], centroid(vectors(false)) ?? centres[1]];
    if (things.length > STRIDE || round === 0) await nextTurn();
  }
  const ordered = sides.toSorted(([, a], [, b]) => b - a).map(([thing]) => thing);
  const fewest = Math.max(FEWEST_IN_CLUSTER, Math.ceil(things.length * SMALLER_SIDE));
  const natural = sides.filter(([, lean]) => lean >= 0).length;
  const cut = Math.min(Math.max(natural, fewest), things.length - fewest);
  return [ordered.slice(0, cut), ordered.slice(cut)];
};

const leastLike = (things: readonly Clustered[], vector: Float32Array | undefined): Float32Array | undefined => {
  let least: { readonly vector: Float32Array; readonly close: number } | undefined;
  for (const thing of things) {
    if (thing.vector === undefined) continue;
    const close = similarity(thing.vector, vector);
    if (least === undefined || close < least.close) least = { vector: thing.vector, close };
  }
  return least?.vector;
};
