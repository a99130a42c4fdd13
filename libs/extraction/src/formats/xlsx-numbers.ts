import type { Archive } from '../archive';
import { readXml } from '../xml';
import { dateText, durationText } from './xlsx-dates';

/** Formats that every workbook has without naming them, of numbers. Those of currencies have the sign of whoever opens it. */
const BUILT_IN: Readonly<Record<number, string>> = {
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  9: '0%',
  10: '0.00%',
  37: '#,##0',
  38: '#,##0',
  39: '#,##0.00',
  40: '#,##0.00',
  41: '#,##0',
  42: '#,##0',
  43: '#,##0.00',
  44: '#,##0.00',
  46: '[h]:mm:ss',
};
/** And of dates and times. */
const isBuiltInDate = (id: number): boolean =>
  (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 47) || (id >= 50 && id <= 58);

const LONGEST_CODE = 255;
const MAX_DECIMALS = 15;

/** How a cell shows a number. `is1904`: whether days are counted from 1904. */
export type Shows = (value: string, is1904: boolean) => string;

/** How the cells of each style show numbers, by its index. */
export const numberStyles = async (archive: Archive, part: string): Promise<readonly Shows[]> => {
  const codes = new Map<number, string>();
  const styles: Shows[] = [];
  let isCellStyles = false;
  await readXml(archive, part, {
    open: (name, { numFmtId = '', formatCode = '' }) => {
      if (name === 'numFmt') codes.set(Number(numFmtId), formatCode.slice(0, LONGEST_CODE));
      else if (name === 'cellXfs') isCellStyles = true;
      else if (name === 'xf' && isCellStyles) styles.push(showsOf(Number(numFmtId), codes.get(Number(numFmtId))));
    },
    close: (name) => {
      if (name === 'cellXfs') isCellStyles = false;
    },
  });
  return styles;
};

/** A number without a format: with the 15 digits that Excel keeps. */
export const plainNumber: Shows = (value) =>
  /^-?\d{1,15}$/.test(value) || !Number.isFinite(Number(value)) ? value : String(Number(Number(value).toPrecision(15)));

const showsOf = (id: number, code = BUILT_IN[id]): Shows => {
  if (code === undefined) return isBuiltInDate(id) ? (value, is1904) => dateText(Number(value), is1904) : plainNumber;
  if (isDuration(code)) return (value) => durationText(Number(value));
  if (isDateCode(code)) return (value, is1904) => dateText(Number(value), is1904);
  const format = formatOf(code);
  return format === undefined ? plainNumber : (value) => formatted(value, format);
};

const isDuration = (code: string): boolean => /\[(?:h+|m+|s+)\]/i.test(code);

/** Days, months, years, hours or seconds, outside of what a format shows literally. */
const isDateCode = (code: string): boolean =>
  /[dmyhs]/i.test(code.replace(/"[^"]*"|\\.|_.|\*.|\[[^[\]]*\]/g, '').replace(/general|standard/gi, ''));

interface NumberFormat {
  readonly before: string;
  readonly after: string;
  /** Digits that are shown at least before the point, and at most behind it, and there at least. */
  readonly whole: number;
  readonly decimals: readonly [least: number, most: number];
  /** What the number is multiplied by: 100 of percents, a thousandth of thousands. */
  readonly times: number;
}

/**
 * The format of positive numbers; undefined where it shows more, or other, than digits with a text around them: fractions, powers of
 * ten, digits in groups of its own.
 */
const formatOf = (code: string): NumberFormat | undefined => {
  const section = firstSection(code);
  const plain = section
    // What takes the place of a character or fills the column, colours and conditions.
    .replace(/_.|\*.|\[(?!\$)[^\]]*\]/g, '')
    .replace(/\[\$([^\]-]*)[^\]]*\]/g, (_, sign: string) => `"${sign}"`);
  const tokens: readonly string[] = plain.match(/"[^"]*"|\\.|[#0?][#0?,]*(?:\.[#0?]*)?,*|[^]/g) ?? [];
  const digits = tokens.filter((token) => /^[#0?]/.test(token));
  const [pattern] = digits;
  if (pattern === undefined || digits.length > 1 || tokens.some((token) => /^[eE/@]$/.test(token))) return undefined;
  const at = tokens.indexOf(pattern);
  const literal = (part: readonly string[]): string => part.map(literalOf).join('');
  const [whole = '', decimals = ''] = pattern.split('.');
  const thousands = /,*$/.exec(pattern)?.[0].length ?? 0;
  const percents = tokens.filter((token) => token === '%').length;
  const places = decimals.replaceAll(',', '');
  return {
    before: literal(tokens.slice(0, at)).trimStart(),
    after: literal(tokens.slice(at + 1)).trimEnd(),
    whole: (whole.match(/0/g) ?? []).length,
    decimals: [(places.match(/0/g) ?? []).length, Math.min(places.length, MAX_DECIMALS)],
    times: 100 ** percents / 1_000 ** thousands,
  };
};

/** Up to the first semicolon that is not shown literally. */
const firstSection = (code: string): string => /^(?:"[^"]*"|\\.|[^;"\\]|["\\])*?(?=;|$)/.exec(code)?.[0] ?? code;

const literalOf = (token: string): string =>
  token.startsWith('"') ? token.replaceAll('"', '') : token.startsWith('\\') ? token.slice(1) : token;

/** With a point and no groups of digits, since those depend on whoever opens the workbook. */
const formatted = (value: string, { before, after, whole, decimals, times }: NumberFormat): string => {
  const number = Number(value);
  if (value === '' || !Number.isFinite(number) || Math.abs(number) >= 1e15) return value;
  const exact = Number((Math.abs(number) * times).toPrecision(15));
  const [least, most] = decimals;
  const [digits = '', behind = ''] = exact.toFixed(most).split('.');
  let places = behind;
  while (places.length > least && places.endsWith('0')) places = places.slice(0, -1);
  const shown = `${digits.padStart(whole, '0')}${places === '' ? '' : `.${places}`}`;
  const sign = number < 0 && /[1-9]/.test(shown) ? '-' : '';
  return `${sign}${before}${shown}${after}`;
};
