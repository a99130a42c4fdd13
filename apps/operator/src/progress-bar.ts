import { count, duration } from './output';

const WIDTH = 24;

export interface Progress {
  readonly done: number;
  /** Null while nobody knows. */
  readonly total: number | null;
  /** Units a second. */
  readonly rate?: number | null;
  readonly etaSeconds?: number | null;
}

/** One line: `label  [########----------------]  33 %  1,000/3,000  500/s  ETA 4.0 s`. */
export const progressBar = (label: string, { done, total, rate, etaSeconds }: Progress): string => {
  const share = total === null || total === 0 ? (total === 0 ? 1 : 0) : Math.min(1, done / total);
  const filled = Math.floor(share * WIDTH);
  return [
    label,
    `[${'#'.repeat(filled)}${'-'.repeat(WIDTH - filled)}]`,
    `${String(Math.floor(share * 100)).padStart(3)} %`,
    total === null ? count(done) : `${count(done)}/${count(total)}`,
    ...(typeof rate === 'number' && rate > 0 ? [`${count(Math.round(rate))}/s`] : []),
    ...(typeof etaSeconds === 'number' && done !== total ? [`ETA ${duration(etaSeconds)}`] : []),
  ].join('  ');
};
