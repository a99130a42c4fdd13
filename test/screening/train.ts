/** Trains the models of the screener on the texts of libs/screening/training and writes their weights: npm run train:screening. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalText, folded } from '../../libs/screening/src/canonical';
import { BUCKETS, featuresOf } from '../../libs/screening/src/model';

const FOLDER = join(__dirname, '../../libs/screening/training');
const EACH = 20;
const EPOCHS = 8;
const RATE = 1;
const DECAY = 2e-5;
/** Share of safe development texts that may be flagged. */
const ALARMS = 0.005;

/** Mulberry32: the same numbers in each run. */
const randomOf = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
};

interface Example {
  readonly features: readonly number[];
  readonly label: 0 | 1;
  readonly template: number;
}

/** One text of a template: `{a|b}` is one of its alternatives. */
const textOf = (template: string, random: () => number): string =>
  template
    .replace(/\{([^{}]*\|[^{}]*)\}/g, (_, list: string) => {
      const alternatives = list.split('|');
      return alternatives[Math.floor(random() * alternatives.length)] ?? '';
    })
    .replace(/ +([.,;:])/g, '$1')
    .replace(/\.{2,}$/, '.');

const examplesOf = (file: string, label: 0 | 1, purpose: 'memory' | 'text'): readonly Example[] => {
  const random = randomOf(7);
  const templates = readFileSync(join(FOLDER, file), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !/^# .*Written for this project/.test(line));
  return templates.flatMap((template, index) => {
    const texts = new Set(Array.from({ length: EACH }, () => textOf(template, random)));
    return [...texts].map((text) => ({
      features: featuresOf(folded(canonicalText(text, purpose))),
      label,
      template: index,
    }));
  });
};

const shuffled = <T>(items: readonly T[], random: () => number): T[] => {
  const all = [...items];
  for (let index = all.length - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1));
    [all[index], all[other]] = [all[other] as T, all[index] as T];
  }
  return all;
};

const raw = (weights: Float64Array, bias: number, features: readonly number[]): number => {
  let sum = 0;
  for (const bucket of features) sum += weights[bucket] ?? 0;
  return bias + sum / Math.sqrt(Math.max(1, features.length));
};

/** Logistic regression by AdaGrad. Both labels weigh the same. */
const trained = (examples: readonly Example[]): { weights: Float64Array; bias: number } => {
  const [weights, squares] = [new Float64Array(BUCKETS), new Float64Array(BUCKETS).fill(1e-3)];
  let [bias, biasSquares] = [0, 1e-3];
  const unsafe = examples.filter(({ label }) => label === 1).length;
  const random = randomOf(11);
  for (let epoch = 0; epoch < EPOCHS; epoch++)
    for (const { features, label } of shuffled(examples, random)) {
      const share = label === 1 ? unsafe : examples.length - unsafe;
      const error = (1 / (1 + Math.exp(-raw(weights, bias, features))) - label) * (examples.length / (2 * share));
      const step = error / Math.sqrt(Math.max(1, features.length));
      for (const bucket of features) {
        const gradient = step + DECAY * (weights[bucket] ?? 0);
        squares[bucket] = (squares[bucket] ?? 0) + gradient * gradient;
        weights[bucket] = (weights[bucket] ?? 0) - (0.1 * RATE * gradient) / Math.sqrt(squares[bucket] ?? 1);
      }
      biasSquares += error * error;
      bias -= (0.02 * error) / Math.sqrt(biasSquares);
    }
  return { weights, bias };
};

/** Both kinds of texts teach both models; each is developed on texts of its own kind, by templates that it was not trained on. */
const model = (purpose: 'memory' | 'text', threshold: number) => {
  const textsOf = (kind: string): readonly Example[] => [
    ...examplesOf(`${kind}.safe.txt`, 0, purpose),
    ...examplesOf(`${kind}.unsafe.txt`, 1, purpose),
  ];
  const [own, other] = [textsOf(purpose), textsOf(purpose === 'memory' ? 'text' : 'memory')];
  const examples = [...own, ...other];
  const isDevelopment = ({ template }: Example): boolean => template % 5 === 3;
  const fit = trained([...own.filter((example) => !isDevelopment(example)), ...other]);
  const scored = own
    .filter(isDevelopment)
    .map(({ features, label }) => ({ score: raw(fit.weights, fit.bias, features), label }));
  const alarms = scored.flatMap(({ score, label }) => (label === 0 ? [score] : [])).toSorted((a, b) => b - a);
  const bound = alarms[Math.floor(alarms.length * ALARMS)] ?? 0;
  const found = scored.filter(({ label }) => label === 1);
  const recallAt = (at: number): string => (found.filter(({ score }) => score > at).length / found.length).toFixed(3);
  const alarmsAt = (at: number): string => (alarms.filter((score) => score > at).length / alarms.length).toFixed(3);
  console.log(
    `${purpose}: ${examples.length} texts; development: recall ${recallAt(bound)} at ${alarmsAt(bound)} false alarms (logit ${bound.toFixed(2)}); at 0: ${recallAt(0)} at ${alarmsAt(0)}`,
  );
  const { weights, bias } = trained(examples);
  const scale = weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 0) / 127;
  const bytes = Buffer.from(Int8Array.from(weights, (weight) => Math.round(weight / scale)).buffer);
  return { weights: bytes.toString('base64'), scale, bias, threshold };
};

const models = {
  memory: model('memory', 0.82),
  text: model('text', 0.95),
};
const fields = Object.entries(models).map(
  ([name, { weights, scale, bias, threshold }]) =>
    `  ${name}: {\n    weights:\n      '${weights}',\n    scale: ${scale},\n    bias: ${bias},\n    threshold: ${threshold},\n  },\n`,
);
writeFileSync(
  join(__dirname, '../../libs/screening/src/weights.ts'),
  `// Generated by npm run train:screening. Do not edit.\nexport const MODELS = {\n${fields.join('')}};\n`,
);
