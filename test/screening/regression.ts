import { BUCKETS, type Features, weightOf } from '../../libs/screening/src/model';
import { type Example, randomOf, shuffled } from './corpus';

const EPOCHS = 20;

/** How a model learns: how far each step goes, and how weights shrink that nothing holds. */
export interface Pace {
  readonly step: number;
  readonly decay: number;
}

/** A linear model before its weights are cut to bytes. */
export interface Fit {
  readonly weights: Float64Array;
  readonly bias: number;
}

const raw = ({ weights, bias }: Fit, features: Features): number => {
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
  example.windows.reduce((most, features) => Math.max(most, raw(fit, features)), -Infinity);

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

/** Logistic regression by AdaGrad, over the examples in an order by chance. Both labels weigh the same. */
const trained = (examples: readonly Example[], { step, decay }: Pace, seed: number): Fit => {
  const lessons = examples.flatMap(lessonsOf);
  const [weights, squares] = [new Float64Array(BUCKETS), new Float64Array(BUCKETS).fill(1e-3)];
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
export const averaged = (examples: readonly Example[], paces: readonly Pace[], seeds: readonly number[]): Fit => {
  const fits = paces.flatMap((pace) => seeds.map((seed) => trained(examples, pace, seed)));
  const mean = (of: (fit: Fit) => number): number => fits.reduce((sum, fit) => sum + of(fit), 0) / fits.length;
  return {
    weights: Float64Array.from({ length: BUCKETS }, (_, bucket) => mean(({ weights }) => weights[bucket] ?? 0)),
    bias: mean(({ bias }) => bias),
  };
};
