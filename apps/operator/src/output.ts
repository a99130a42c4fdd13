/** The output of a command: results on standard output, everything else on standard error. */
export interface Output {
  /** True for `--json`: results are JSON, one document a line. */
  readonly json: boolean;
  /** Prints a result as JSON, or as lines for people, of at most this many characters. */
  result<T>(value: T, lines: (value: T, width: number) => readonly string[]): void;
  /** A heading before the work, for people only. */
  heading(line: string): void;
  /** A note during the work. */
  note(line: string): void;
  /** A progress line, which the next one replaces. Without a terminal, one is printed now and then. */
  progress(line: string): void;
  /** Ends the progress line and keeps the last one. */
  progressDone(): void;
}

/** Interval of progress lines without a terminal, milliseconds. */
const PRINTED_EVERY_MS = 2_000;

/** Where text goes; `process` is one. */
export interface Streams {
  readonly stdout: {
    write(text: string): unknown;
    readonly isTTY?: boolean | undefined;
    readonly columns?: number | undefined;
  };
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean | undefined };
}

/** What a terminal obeys or hides: control characters, line separators, turned directions, tags. */
const OBEYED = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\u{e0000}-\u{e007f}]/gu;

/** Text with such characters as JSON escapes: names of files, streams and reasons are written by others, and must neither forge a line nor hide one. */
export const visible = (given: string): string =>
  given.replaceAll(OBEYED, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );

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
      const width = stdout.isTTY === true ? (stdout.columns ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;
      stdout.write(
        json
          ? `${visible(JSON.stringify(value))}\n`
          : lines(value, width)
              .map((line) => `${visible(line)}\n`)
              .join(''),
      );
    },
    heading: (line) => {
      if (!json) stdout.write(`${visible(line)}\n`);
    },
    note: (line) => {
      stderr.write(`${visible(line)}\n`);
    },
    progress: (line) => {
      latest = visible(line);
      if (terminal || performance.now() - printedAt >= PRINTED_EVERY_MS) print(latest);
    },
    progressDone: () => {
      if (latest !== '') print(latest);
      if (terminal && latest !== '') stderr.write('\n');
      latest = '';
      printed = '';
    },
  };
};

/** Printed for an empty list. */
export const NONE = '(none)';

type Cell = string | number | undefined;

/** Lines of a table with a header. Columns are as wide as their widest cell, numbers are right-aligned. Cells wrap if a line would be longer than `width`. */
export const table = <T>(
  rows: readonly T[],
  columns: Readonly<Record<string, (row: T) => string | number | null | undefined>>,
  width = Number.POSITIVE_INFINITY,
): readonly string[] => {
  if (rows.length === 0) return [NONE];
  const names = Object.keys(columns);
  const cells: readonly (readonly Cell[])[] = [
    names.map((name) => name.toUpperCase()),
    ...rows.map((row) => names.map((name) => columns[name]?.(row) ?? '-')),
  ];
  const widths = fitting(
    names.map((_, column) => Math.max(...cells.map((line) => text(line[column]).length))),
    width,
  );
  return cells.flatMap((line) => {
    const wrapped = line.map((cell, column) => wrap(text(cell), widths[column] ?? 0));
    const height = Math.max(...wrapped.map(({ length }) => length));
    return Array.from({ length: height }, (_, row) =>
      wrapped
        .map((parts, column) => padded(parts[row] ?? '', widths[column] ?? 0, typeof line[column] === 'number'))
        .join(GAP)
        .trimEnd(),
    );
  });
};

const GAP = '  ';
/** The minimum width of a column. */
const NARROWEST = 8;

/** Narrows the widest column until all fit. */
const fitting = (natural: readonly number[], width: number): readonly number[] => {
  const widths = [...natural];
  const room = width - GAP.length * (widths.length - 1);
  while (widths.reduce((sum, each) => sum + each, 0) > room) {
    const widest = widths.indexOf(Math.max(...widths));
    if ((widths[widest] ?? 0) <= NARROWEST) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
};

/** Breaks between words if possible. */
const wrap = (given: string, width: number): readonly string[] => {
  if (given.length <= width) return [given];
  const space = given.lastIndexOf(' ', width);
  const end = space > 0 ? space : width;
  return [given.slice(0, end), ...wrap(given.slice(end).trimStart(), width)];
};

const padded = (given: string, width: number, isNumber: boolean): string =>
  isNumber ? given.padStart(width) : given.padEnd(width);

const text = (value: Cell): string => (typeof value === 'number' ? count(value) : (value ?? ''));

/** A number with thousands separated; at most one decimal place. */
export const count = (value: number): string => new Intl.NumberFormat('en', { maximumFractionDigits: 1 }).format(value);

/** Seconds as people say them: `0.4 s`, `12 s`, `3 min 5 s`. */
export const duration = (seconds: number): string => {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
};

/** A number and what it counts: `1 event`, `1,000 events`. `several` is the plural where it has no `s`. */
export const counted = (value: number, one: string, several = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : several}`;
