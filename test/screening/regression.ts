import { BUCKETS, type Features, HASHES, inBuckets, type Reading, weightOf } from '../../libs/screening/src/model';
import { type Example, randomOf, shuffled } from './corpus';

const EPOCHS = 20;

/** How a model learns: how far each step goes, and how weights shrink that nothing holds. */
export interface Pace {
  readonly step: number;
  readonly decay: number;
}

/** How the models are learned that are averaged. */
export interface Learning {
  readonly reading: Reading;
  readonly paces: readonly Pace[];
  /** Orders of the examples. */
  readonly seeds: readonly number[];
  /** What fewer texts have teaches nothing of other texts, and takes buckets from what does. */
  readonly fewest: number;
}

/** A linear model before its weights are cut to bytes. */
export interface Fit {
  readonly reading: Reading;
  readonly weights: Float64Array;
  readonly bias: number;
}

const raw = ({ weights, bias }: Omit<Fit, 'reading'>, features: Features): number => {
  let total = bias;
  for (const [index, group] of features.entries()) {
    let sum = 0;
    for (const bucket of group) sum += weights[bucket] ?? 0;
    total += sum * weightOf(index, group.length);
  }
  return total;
};

/** The score of what is worst in a text. */
export const scoreOf = (fit: Fit, example: Example): number =>
  example.windows.reduce((most, features) => Math.max(most, raw(fit, inBuckets(features, fit.reading))), -Infinity);

interface Lesson {
  readonly features: Features;
  readonly label: 0 | 1;
  readonly weight: number;
}

/** What is learned of a text: all of it; of one that is safe its sentences too. */
const lessonsOf = ({ windows: [whole = [], ...sentences], label, weight }: Example): readonly Lesson[] => [
  { features: whole, label, weight },
  ...(label === 0 ? sentences.map((features) => ({ features, label, weight: weight / sentences.length })) : []),
];

/** Buckets that lessons have, in the order in which they first have them. */
interface Dense {
  readonly lessons: readonly Lesson[];
  readonly buckets: readonly number[];
}

/** Lessons with places of buckets for buckets: a table of all of them would be too big to be quick. */
const dense = (lessons: readonly Lesson[]): Dense => {
  const places = new Map<number, number>();
  const placeOf = (bucket: number): number => {
    const place = places.get(bucket) ?? places.size;
    places.set(bucket, place);
    return place;
  };
  const placed = lessons.map(({ features, ...lesson }) => ({
    ...lesson,
    features: features.map((group) => group.map(placeOf)),
  }));
  return { lessons: placed, buckets: [...places.keys()] };
};

/** What is learned of all examples, in buckets, without what too few of them have. */
const lessonsOfAll = (examples: readonly Example[], { reading, fewest }: Learning): readonly Lesson[] => {
  const texts = new Uint32Array(HASHES);
  for (const { windows } of examples) for (const hash of windows[0]?.flat() ?? []) texts[hash] = (texts[hash] ?? 0) + 1;
  const isOfEnough = (hash: number): boolean => (texts[hash] ?? 0) >= fewest;
  return examples.flatMap(lessonsOf).map(({ features, ...lesson }) => {
    const learned = fewest > 1 ? features.map((group) => group.filter(isOfEnough)) : features;
    return { ...lesson, features: inBuckets(learned, reading) };
  });
};

/** Logistic regression by AdaGrad, over the lessons in an order by chance. Both labels weigh the same. */
const trained = ({ lessons, buckets }: Dense, { step, decay }: Pace, seed: number): Omit<Fit, 'reading'> => {
  const [weights, squares] = [new Float64Array(buckets.length), new Float64Array(buckets.length).fill(1e-3)];
  let [bias, biasSquares] = [0, 1e-3];
  const sum = (label: 0 | 1): number =>
    lessons.reduce((total, lesson) => total + (lesson.label === label ? lesson.weight : 0), 0);
  const [safe, unsafe] = [sum(0), sum(1)];
  const random = randomOf(seed);
  for (let epoch = 0; epoch < EPOCHS; epoch++)
    for (const { features, label, weight } of shuffled(lessons, random)) {
      const share = ((safe + unsafe) / 2 / (label === 1 ? unsafe : safe)) * weight;
      const error = (1 / (1 + Math.exp(-raw({ weights, bias }, features))) - label) * share;
      for (const [index, group] of features.entries()) {
        const slope = error * weightOf(index, group.length);
        for (const bucket of group) {
          const gradient = slope + decay * (weights[bucket] ?? 0);
          squares[bucket] = (squares[bucket] ?? 0) + gradient * gradient;
          weights[bucket] = (weights[bucket] ?? 0) - (step * gradient) / Math.sqrt(squares[bucket] ?? 1);
        }
      }
      biasSquares += error * error;
      bias -= (0.02 * error) / Math.sqrt(biasSquares);
    }
  return { weights, bias };
};

/** The average of models that read the examples in orders of their own, at each of the paces: less by chance than any of them. */
export const averaged = (examples: readonly Example[], learning: Learning): Fit => {
  const { reading, paces, seeds } = learning;
  const all = dense(lessonsOfAll(examples, learning));
  const fits = paces.flatMap((pace) => seeds.map((seed) => trained(all, pace, seed)));
  const mean = (of: (fit: Omit<Fit, 'reading'>) => number): number =>
    fits.reduce((sum, fit) => sum + of(fit), 0) / fits.length;
  const weights = new Float64Array(BUCKETS[reading]);
  for (const [place, bucket] of all.buckets.entries()) weights[bucket] = mean((fit) => fit.weights[place] ?? 0);
  return { reading, weights, bias: mean(({ bias }) => bias) };
};
