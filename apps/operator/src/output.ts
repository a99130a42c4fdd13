/** Where a verb writes: results on standard output, everything about the work itself on standard error. */
export interface Output {
  /** True for `--json`: results are JSON, one document a line. */
  readonly json: boolean;
  /** One result: printed as JSON, or as the lines made from it for people. */
  result<T>(value: T, lines: (value: T) => readonly string[]): void;
  /** Something worth knowing while the work goes on. */
  note(line: string): void;
  /** A line that the next one replaces: a progress bar. Where there is no terminal, one is printed now and then. */
  progress(line: string): void;
  /** Ends the replaced line; the last one stays. */
  progressDone(): void;
}

/** How often a line of progress is printed where there is no terminal, milliseconds. */
const PRINTED_EVERY_MS = 2_000;

/** Where text goes; `process` is one. */
export interface Streams {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean | undefined };
}

export const outputTo = ({ stdout, stderr }: Streams, json: boolean): Output => {
  const terminal = stderr.isTTY === true;
  let latest = '';
  let printed = '';
  let printedAt = Number.NEGATIVE_INFINITY;
  const print = (line: string): void => {
    if (line === printed) return;
    stderr.write(terminal ? `\r${line.padEnd(printed.length)}` : `${line}\n`);
    printed = line;
    printedAt = performance.now();
  };
  return {
    json,
    result: (value, lines) => {
      stdout.write(json ? `${JSON.stringify(value)}\n` : lines(value).map((line) => `${line}\n`).join(''));
    },
    note: (line) => {
      stderr.write(`${line}\n`);
    },
    progress: (line) => {
      latest = line;
      if (terminal || performance.now() - printedAt >= PRINTED_EVERY_MS) print(line);
    },
    progressDone: () => {
      if (latest !== '') print(latest);
      if (terminal && latest !== '') stderr.write('\n');
      latest = '';
      printed = '';
    },
  };
};

/** Lines of a table with a header; columns are as wide as their widest cell, numbers stand right. */
export const table = <T>(rows: readonly T[], columns: Readonly<Record<string, (row: T) => string | number | null | undefined>>): readonly string[] => {
  if (rows.length === 0) return ['(none)'];
  const names = Object.keys(columns);
  const cells = rows.map((row) => names.map((name) => columns[name]?.(row) ?? '-'));
  const widths = names.map((name, column) => cells.reduce((widest, line) => Math.max(widest, text(line[column]).length), name.length));
  const line = (values: readonly (string | number | undefined)[]): string =>
    values.map((value, column) => (typeof value === 'number' ? text(value).padStart(widths[column] ?? 0) : text(value).padEnd(widths[column] ?? 0))).join('  ').trimEnd();
  return [line(names.map((name) => name.toUpperCase())), ...cells.map(line)];
};

const text = (value: string | number | undefined): string => (typeof value === 'number' ? count(value) : (value ?? ''));

/** A number with thousands separated; at most one decimal place. */
export const count = (value: number): string => new Intl.NumberFormat('en', { maximumFractionDigits: 1 }).format(value);

/** Seconds as people say them: `0.4 s`, `12 s`, `3 min 5 s`. */
export const duration = (seconds: number): string => {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
};
