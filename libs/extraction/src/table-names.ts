/** Of a row that is longer, each line begins with what the row is about: a passage may have one line of it alone. Characters. */
const LONG_LINE = 400;
/** A longer first cell names nothing. */
const LONGEST_KEY = 100;

/** A row as a sentence that names its columns, so that it can be found, understood and quoted by itself; a long one in several lines. */
export const rowSentence = (cells: readonly string[], header: readonly string[]): string => {
  const said = cells.flatMap((cell, index) => {
    const name = header[index] ?? '';
    return cell === '' ? [] : [name === '' ? cell : `${name}: ${cell}`];
  });
  const key = (said[0] ?? '').length <= LONGEST_KEY ? `${said[0] ?? ''}; ` : '';
  const lines: string[] = [];
  let line = '';
  for (const part of said)
    if (line === '') line = part;
    else if (line.length + part.length <= LONG_LINE) line += `; ${part}`;
    else {
      lines.push(line);
      line = key + part;
    }
  lines.push(line);
  return lines.map(ended).join('\n');
};

const ended = (line: string): string => (line === '' || /[.!?:;\u2026]$/.test(line) ? line : `${line}.`);

/**
 * Whether the cells of a row can be names of columns: words, and beside them years, months or days that follow one another, as in
 * `Region; 2024; 2025`.
 */
export const nameSequence = (cells: readonly string[]): boolean => {
  const numbers = cells.filter((cell) => cell !== '' && !isWord(cell));
  if (numbers.length === 0) return true;
  if (numbers.length === cells.filter((cell) => cell !== '').length && cells[0] !== '') return false;
  return numbers.length >= 2 && (isCounting(numbers) || isDates(numbers));
};

const isCounting = (numbers: readonly string[]): boolean => {
  const values = numbers.map((text) => (/^\d{1,4}$/.test(text) ? Number(text) : NaN));
  const [first = NaN, second = NaN] = values;
  const isYears = values.every((value) => value >= 1_800 && value < 2_200);
  return (
    (isYears || (values.length >= 3 && first <= 1)) &&
    Math.abs(second - first) === 1 &&
    values.every((value, index) => index === 0 || value - (values[index - 1] ?? NaN) === second - first)
  );
};

const isDates = (texts: readonly string[]): boolean => {
  const days = texts.map((text) => (/^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : NaN));
  return days.every((day, index) => index === 0 || day > (days[index - 1] ?? NaN));
};

export const isWord = (cell: string): boolean => /\p{L}/u.test(cell);
