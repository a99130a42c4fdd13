/** Trains the models of the screener on the texts of libs/screening/training and writes their weights: npm run train:screening. SHOW=memory or SHOW=text prints the texts that are nearest to the wrong side. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalText, folded } from '../../libs/screening/src/canonical';
import { BUCKETS, type Features, featuresOf, windows } from '../../libs/screening/src/model';
import { screen } from '../../libs/screening/src/screen';

const FOLDER = join(__dirname, '../../libs/screening/training');
/** Texts of a template at most. */
const EACH = 12;
const EPOCHS = 20;
const DECAY = 3e-4;
const FOLDS = 5;
/** Shares of safe texts that the threshold is shown for. */
const ALARMS = [0, 0.005, 0.01, 0.02, 0.05] as const;

type Purpose = 'memory' | 'text';

/** Mulberry32: the same numbers in each run. */
const randomOf = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
};

interface Example {
  readonly text: string;
  /** Of the text, and of its sentences. */
  readonly windows: readonly Features[];
  readonly label: 0 | 1;
  /** Texts of a template weigh as much as those of any other. */
  readonly weight: number;
  /** Templates of a family are alike: they are never on both sides. */
  readonly family: string;
}

/** One text of a template: `{a|b}` is one of its alternatives. */
const textOf = (template: string, random: () => number): string =>
  template
    .replace(/\{([^{}]*\|[^{}]*)\}/g, (_, list: string) => {
      const alternatives = list.split('|');
      return alternatives[Math.floor(random() * alternatives.length)] ?? '';
    })
    .replace(/ +([.,;:])/g, '$1')
    .replace(/\.{2,}$/, '.')
    .trim();

const examplesOf = (file: string, label: 0 | 1, purpose: Purpose): readonly Example[] => {
  const random = randomOf(7);
  const examples: Example[] = [];
  let family = '';
  for (const [line, template] of readFileSync(join(FOLDER, file), 'utf8').split('\n').entries()) {
    if (template.startsWith('# family: ')) family = template;
    if (template === '' || template.startsWith('# ')) continue;
    const texts = new Set(Array.from({ length: EACH }, () => textOf(template, random)));
    for (const text of texts)
      examples.push({
        text,
        windows: windows(folded(canonicalText(text, purpose))).map(featuresOf),
        label,
        weight: Math.min(4, EACH / texts.size),
        family: `${file} ${family === '' ? line : family}`,
      });
  }
  return examples;
};

const shuffled = <T>(items: readonly T[], random: () => number): T[] => {
  const all = [...items];
  for (let index = all.length - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1));
    [all[index], all[other]] = [all[other] as T, all[index] as T];
  }
  return all;
};

interface Fit {
  readonly weights: Float64Array;
  readonly bias: number;
}

const raw = ({ weights, bias }: Fit, features: Features): number =>
  features.reduce((total, group) => {
    let sum = 0;
    for (const bucket of group) sum += weights[bucket] ?? 0;
    return total + sum / Math.sqrt(Math.max(1, group.length));
  }, bias);
const scoreOf = (fit: Fit, example: Example): number =>
  example.windows.reduce((most, features) => Math.max(most, raw(fit, features)), -Infinity);

/** What is learned of a text: all of it; of one that is safe its sentences too. */
const lessonsOf = ({ windows: [whole = [], ...sentences], label, weight }: Example) => [
  { features: whole, label, weight },
  ...(label === 0 ? sentences.map((features) => ({ features, label, weight: weight / sentences.length })) : []),
];

/** Logistic regression by AdaGrad. Both labels weigh the same. */
const trained = (examples: readonly Example[]): Fit => {
  const [weights, squares] = [new Float64Array(BUCKETS), new Float64Array(BUCKETS).fill(1e-3)];
  let [bias, biasSquares] = [0, 1e-3];
  const lessons = examples.flatMap(lessonsOf);
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

const isGerman = (text: string): boolean => /[äöüß]|\b(?:der|die|das|und|ich|nicht|mit|für|ist|den)\b/i.test(text);

/** Scores of each text by a model that knew nothing of its family. */
const crossValidated = (own: readonly Example[], other: readonly Example[]) => {
  const families = shuffled([...new Set(own.map(({ family }) => family))], randomOf(3));
  const foldOf = new Map(families.map((family, index) => [family, index % FOLDS]));
  return Array.from({ length: FOLDS }, (_, fold) => {
    const fit = trained([...own.filter(({ family }) => foldOf.get(family) !== fold), ...other]);
    return own
      .filter(({ family }) => foldOf.get(family) === fold)
      .map((example) => ({ ...example, score: scoreOf(fit, example) }));
  }).flat();
};

type Scored = ReturnType<typeof crossValidated>[number];

const weighed = (examples: readonly Scored[]): number => examples.reduce((sum, { weight }) => sum + weight, 0);
const share = (examples: readonly Scored[], isOne: (example: Scored) => boolean): string =>
  (weighed(examples.filter(isOne)) / weighed(examples)).toFixed(3);

const report = (purpose: Purpose, scored: readonly Scored[]): void => {
  const byRules = new Map(
    scored.map((each) => [each, screen(each.text, purpose).rules.some((rule) => rule !== 'model')]),
  );
  const [safe, unsafe] = [0, 1].map((label) => scored.filter((each) => each.label === label)) as [Scored[], Scored[]];
  console.log(
    `${purpose}: ${safe.length} safe, ${unsafe.length} unsafe; by rules alone ${share(unsafe, (each) => byRules.get(each) === true)} of ${share(safe, (each) => byRules.get(each) === true)}`,
  );
  const sorted = safe.toSorted((a, b) => b.score - a.score);
  for (const alarms of ALARMS) {
    const at = sorted[Math.floor(alarms * safe.length)]?.score ?? 0;
    const isFlagged = (each: Scored): boolean => each.score > at || byRules.get(each) === true;
    const [german, english] = [true, false].map((of) => unsafe.filter(({ text }) => isGerman(text) === of));
    console.log(
      `  probability ${(1 / (1 + Math.exp(-at))).toFixed(3)}: recall en ${share(english ?? [], isFlagged)} de ${share(german ?? [], isFlagged)} at false alarms ${share(safe, isFlagged)}`,
    );
  }
  if (process.env['SHOW'] !== purpose) return;
  for (const each of sorted.slice(0, 60)) console.log('  safe', each.score.toFixed(2), each.text);
  for (const each of unsafe.toSorted((a, b) => a.score - b.score).slice(0, 80))
    if (byRules.get(each) !== true) console.log('  unsafe', each.score.toFixed(2), each.text);
};

/** Examples, or those of a label, that weigh less. */
const lighter = (examples: readonly Example[], weight: number, label?: 0 | 1): readonly Example[] =>
  examples
    .filter((each) => label === undefined || each.label === label)
    .map((each) => ({ ...each, weight: each.weight * weight }));

/** Both kinds of texts teach both models; each is judged on texts of its own kind. */
const model = (purpose: Purpose, threshold: number) => {
  const textsOf = (kind: Purpose): readonly Example[] => [
    ...examplesOf(`${kind}.safe.txt`, 0, purpose),
    ...examplesOf(`${kind}.unsafe.txt`, 1, purpose),
  ];
  const documentation = examplesOf('text.documentation.txt', 0, purpose);
  const memories = textsOf('memory');
  const texts = [...textsOf('text'), ...documentation];
  const [own, other] =
    purpose === 'memory'
      ? [memories, lighter(texts, 0.4)]
      : [texts, [...lighter(memories, 0.25, 1), ...lighter(memories, 1, 0)]];
  report(purpose, crossValidated(own, other));
  const { weights, bias } = trained([...own, ...other]);
  const scale = weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 0) / 127;
  const bytes = Buffer.from(Int8Array.from(weights, (weight) => Math.round(weight / scale)).buffer);
  return { weights: bytes.toString('base64'), scale, bias, threshold };
};

const models = {
  memory: model('memory', 0.7),
  text: model('text', 0.965),
};
const fields = Object.entries(models).map(
  ([name, { weights, scale, bias, threshold }]) =>
    `  ${name}: {\n    weights:\n      '${weights}',\n    scale: ${scale},\n    bias: ${bias},\n    threshold: ${threshold},\n  },\n`,
);
writeFileSync(
  join(__dirname, '../../libs/screening/src/weights.ts'),
  `// Generated by npm run train:screening. Do not edit.\nexport const MODELS = {\n${fields.join('')}};\n`,
);
