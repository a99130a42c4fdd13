import { BUCKETS, type Features } from '../../libs/screening/src/model';
import { type Example, randomOf, shuffled } from './corpus';

const EPOCHS = 20;
const DECAY = 3e-4;

/** A linear model before its weights are cut to bytes. */
export interface Fit {
  readonly weights: Float64Array;
  readonly bias: number;
}

const raw = ({ weights, bias }: Fit, features: Features): number => {
  let total = bias;
  for (const group of features) {
    let sum = 0;
    for (const bucket of group) sum += weights[bucket] ?? 0;
    total += sum / Math.sqrt(Math.max(1, group.length));
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

/** Logistic regression by AdaGrad. Both labels weigh the same. */
export const trained = (examples: readonly Example[]): Fit => {
  const lessons = examples.flatMap(lessonsOf);
  const [weights, squares] = [new Float64Array(BUCKETS), new Float64Array(BUCKETS).fill(1e-3)];
  let [bias, biasSquares] = [0, 1e-3];
  const sum = (label: 0 | 1): number =>
    lessons.reduce((total, lesson) => total + (lesson.label === label ? lesson.weight : 0), 0);
  const [safe, unsafe] = [sum(0), sum(1)];
  const random = randomOf(11);
  for (let epoch = 0; epoch < EPOCHS; epoch++)
    for (const { features, label, weight } of shuffled(lessons, random)) {
      const share = ((safe + unsafe) / 2 / (label === 1 ? unsafe : safe)) * weight;
      const error = (1 / (1 + Math.exp(-raw({ weights, bias }, features))) - label) * share;
      for (const group of features) {
        const step = error / Math.sqrt(Math.max(1, group.length));
        for (const bucket of group) {
          const gradient = step + DECAY * (weights[bucket] ?? 0);
          squares[bucket] = (squares[bucket] ?? 0) + gradient * gradient;
          weights[bucket] = (weights[bucket] ?? 0) - (0.1 * gradient) / Math.sqrt(squares[bucket] ?? 1);
        }
      }
      biasSquares += error * error;
      bias -= (0.02 * error) / Math.sqrt(biasSquares);
    }
  return { weights, bias };
};
