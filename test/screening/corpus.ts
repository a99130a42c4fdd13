import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalText, folded } from '../../libs/screening/src/canonical';
import { type Features, featuresOf, windows } from '../../libs/screening/src/model';

const FOLDER = join(__dirname, '../../libs/screening/training');
/** Texts of a template at most. */
const EACH = 12;
/** A text weighs at most as much as so many of a template. */
const HEAVIEST = 3;

/** Files of texts that are alike but for what matters, safe and unsafe, in both languages: all of them are one family. */
const PAIRS = '.pairs.';

const HAND = /\.hand-(\w)\./;

/** Frames that an order stands in. */
const FRAMED = 5;

export type Purpose = 'memory' | 'text';

/** Mulberry32: the same numbers in each run. */
export const randomOf = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
};

export const shuffled = <T>(items: readonly T[], random: () => number): T[] => {
  const all = [...items];
  for (let index = all.length - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1));
    [all[index], all[other]] = [all[other] as T, all[index] as T];
  }
  return all;
};

/** A text that the model learns from. */
export interface Example {
  readonly text: string;
  /** Of the text, and of its sentences. */
  readonly windows: readonly Features[];
  readonly label: 0 | 1;
  /** Texts of a template weigh as much as those of any other. */
  readonly weight: number;
  readonly file: string;
  /** Who wrote it: a letter of a file's name, or nothing. */
  readonly hand: string;
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

const linesOf = (file: string): readonly string[] => readFileSync(join(FOLDER, file), 'utf8').split('\n');

/** Frames that orders of a file stand in: safe and unsafe ones in the same, so that what is ordered tells them apart. */
const framesFor = (file: string): readonly string[] => {
  const language = /\.orders\.(\w+)\.txt$/.exec(file)?.[1];
  return language === undefined ? [] : linesOf(`frames.${language}.txt`).filter((line) => line.includes('...'));
};

const framed = (order: string, frames: readonly string[], random: () => number): string => {
  const frame = frames[Math.floor(random() * frames.length)] ?? '...';
  const text = `${frame.replace('...', order)}.`;
  return text.charAt(0).toUpperCase() + text.slice(1);
};

const examplesIn = (file: string, label: 0 | 1, purpose: Purpose): readonly Example[] => {
  const random = randomOf(7);
  const examples: Example[] = [];
  const frames = framesFor(file);
  let family = '';
  for (const [line, template] of linesOf(file).entries()) {
    if (template.startsWith('# family: ')) family = template;
    if (template === '' || template.startsWith('# ')) continue;
    const texts = new Set(
      Array.from({ length: frames.length > 0 ? FRAMED : EACH }, () =>
        frames.length > 0 ? framed(textOf(template, random), frames, random) : textOf(template, random),
      ),
    );
    for (const text of texts)
      examples.push({
        text,
        windows: windows(folded(canonicalText(text, purpose))).map((window) => featuresOf(window, purpose)),
        label,
        weight: frames.length > 0 ? 1 : Math.min(HEAVIEST, EACH / texts.size),
        file,
        hand: HAND.exec(file)?.[1] ?? '',
        family: file.includes(PAIRS) ? PAIRS : `${file} ${family === '' ? line : family}`,
      });
  }
  return examples;
};

/** All examples of the files whose names begin so, such as `memory.safe`. */
export const examplesOf = (name: string, label: 0 | 1, purpose: Purpose): readonly Example[] =>
  readdirSync(FOLDER)
    .filter((file) => file.startsWith(`${name}.`))
    .toSorted()
    .flatMap((file) => examplesIn(file, label, purpose));
