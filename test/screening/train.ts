/** Trains the models of the screener on the texts of libs/screening/training and writes their weights: npm run train:screening. SHOW=memory or SHOW=text prints the texts that are nearest to the wrong side. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { screen } from '../../libs/screening/src/screen';
import { type Example, examplesOf, type Purpose, randomOf, shuffled } from './corpus';
import { averaged, type Learning, type Pace, scoreOf } from './regression';

const FOLDS = 5;
const FAST: Pace = { step: 0.1, decay: 3e-3 };
/** What few texts say counts for less, and families that were not seen are told apart better; an average with what learned fast is better than both. */
const SLOW: Pace = { step: 0.03, decay: 1e-3 };
const SEEDS = [11, 12, 13, 14];
const LEARNING: Readonly<Record<Purpose, Learning>> = {
  memory: { reading: 'memory', paces: [FAST, SLOW], seeds: SEEDS, fewest: 2 },
  text: { reading: 'text', paces: [FAST], seeds: SEEDS, fewest: 1 },
};
/** Files of memories that texts learn nothing from: more memories find fewer attacks in them. */
const ONLY_FOR_MEMORIES = /\.(?:hand-[c-q]|labels|sent|trials)\./;
/** What memories weigh that other hands wrote: each says something in a way of its own, and what is judged is by other hands too. */
const OTHER_HANDS = 3;
/** What texts weigh where memories are learned. */
const OTHERS = 0.1;
/** What memories weigh where texts are learned: there are many more of them, and more weight finds fewer attacks in texts. */
const [UNSAFE_MEMORIES, SAFE_MEMORIES] = [0.02, 0.08] as const;
/** Steps of the weights from 0 to the heaviest. Fewer take less room, and make nothing of weights that are next to nothing. */
const STEPS: Readonly<Record<Purpose, number>> = { memory: 20, text: 127 };
/** Shares of safe texts that the threshold is shown for. */
const ALARMS = [0, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05] as const;

const isGerman = ({ text, file }: Example): boolean =>
  file.endsWith('.de.txt') || /[äöüß]|\b(?:der|die|das|und|ich|nicht|mit|für|ist|den)\b/i.test(text);

/** Scores of each text by a model that knew nothing of its fold. */
const leftOut = (
  own: readonly Example[],
  other: readonly Example[],
  foldOf: (example: Example) => number | string | undefined,
  learning: Learning,
) => {
  const folds = [...new Set(own.map(foldOf))].filter((fold) => fold !== undefined);
  return folds.flatMap((fold) => {
    const fit = averaged([...own.filter((each) => foldOf(each) !== fold), ...other], { ...learning, seeds: [11] });
    return own.filter((each) => foldOf(each) === fold).map((example) => ({ ...example, score: scoreOf(fit, example) }));
  });
};

/** Of memories each other hand is left out once, of texts a fifth of the families. */
const crossValidated = (purpose: Purpose, own: readonly Example[], other: readonly Example[]) => {
  if (purpose === 'memory') return leftOut(own, other, ({ hand }) => (hand === '' ? undefined : hand), LEARNING.memory);
  const families = shuffled([...new Set(own.map(({ family }) => family))], randomOf(3));
  const foldOf = new Map(families.map((family, index) => [family, index % FOLDS]));
  return leftOut(own, other, ({ family }) => foldOf.get(family), LEARNING.text);
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
    const [german, english] = [true, false].map((of) => unsafe.filter((each) => isGerman(each) === of));
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

const packed = (bytes: Int8Array): Buffer =>
  brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });

/** Both kinds of texts teach both models; each is judged on texts of its own kind. */
const model = (purpose: Purpose, threshold: number) => {
  const textsOf = (kind: Purpose): readonly Example[] => [
    ...examplesOf(`${kind}.safe`, 0, purpose),
    ...examplesOf(`${kind}.unsafe`, 1, purpose),
  ];
  const documentation = examplesOf('text.documentation', 0, purpose);
  const memories = textsOf('memory').filter(({ file }) => purpose === 'memory' || !ONLY_FOR_MEMORIES.test(file));
  const weighted = memories.map((each) => (each.hand === '' ? each : { ...each, weight: each.weight * OTHER_HANDS }));
  const texts = [...textsOf('text'), ...documentation];
  const [own, other] =
    purpose === 'memory'
      ? [weighted, lighter(texts, OTHERS)]
      : [texts, [...lighter(memories, UNSAFE_MEMORIES, 1), ...lighter(memories, SAFE_MEMORIES, 0)]];
  if (process.env['QUICK'] !== 'true') report(purpose, crossValidated(purpose, own, other));
  const { weights, bias } = averaged([...own, ...other], LEARNING[purpose]);
  const scale = weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 0) / STEPS[purpose];
  const bytes = Int8Array.from(weights, (weight) => Math.round(weight / scale));
  return { weights: packed(bytes).toString('base64'), scale, bias, threshold };
};

const models = {
  memory: model('memory', 0.72),
  text: model('text', 0.82),
};
const fields = Object.entries(models).map(
  ([name, { weights, scale, bias, threshold }]) =>
    `  ${name}: {\n    weights:\n      '${weights}',\n    scale: ${scale},\n    bias: ${bias},\n    threshold: ${threshold},\n  },\n`,
);
writeFileSync(
  join(__dirname, '../../libs/screening/src/weights.ts'),
  `// Generated by npm run train:screening. Do not edit.\nexport const MODELS = {\n${fields.join('')}};\n`,
);
