import { median } from './rate';

/** How fast work went. */
export interface Measured {
  readonly perSecond: number;
  /** Microseconds of processor time of this process for each: they say the truth on a busy machine too. A server has its own. */
  readonly cpu: number;
}

/** Measures work that does so many of something. */
export const measured = async (count: number, work: () => Promise<void>): Promise<Measured> => {
  const before = process.cpuUsage();
  const started = performance.now();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { perSecond: (count * 1e3) / (performance.now() - started), cpu: (user + system) / count };
};

/** The rounds of one way to do the work, by its name. */
interface Rounds {
  readonly name: string;
  readonly rounds: readonly Measured[];
}

/** Prints the medians of the product and of a baseline that did the same work, by the clock and by processor time, and their ratio. */
export const printRatio = (unit: string, product: Rounds, baseline: Rounds): void => {
  const rates = {
    'the clock': ({ perSecond }: Measured) => perSecond,
    'processor time': ({ cpu }: Measured) => 1e6 / cpu,
  };
  for (const [by, rate] of Object.entries(rates)) {
    const [ours, theirs] = [median(product.rounds.map(rate)), median(baseline.rounds.map(rate))];
    const shown = (value: number): string => `${Math.round(value).toLocaleString('en')} ${unit}/s`;
    console.log(
      `  by ${by.padEnd(15)} ${product.name} ${shown(ours)}, ${baseline.name} ${shown(theirs)}, ratio ${(ours / theirs).toFixed(2)} (target 0.70)`,
    );
  }
};
