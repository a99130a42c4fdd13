import type { Archive } from '../archive';
import { readXml } from '../xml';

const DAY_MS = 24 * 60 * 60_000;
/** Formats of dates and times that every workbook has without naming them. */
const isBuiltInDate = (id: number): boolean =>
  (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 47) || (id >= 50 && id <= 58);

/** Indexes of the cell styles that show a number as a date or a time. */
export const dateStyles = async (archive: Archive, part: string): Promise<ReadonlySet<number>> => {
  const formats = new Map<number, string>();
  const found = new Set<number>();
  let isCellStyles = false;
  let index = 0;
  await readXml(archive, part, {
    open: (name, { numFmtId = '', formatCode = '' }) => {
      if (name === 'numFmt') formats.set(Number(numFmtId), formatCode);
      else if (name === 'cellXfs') isCellStyles = true;
      else if (name === 'xf' && isCellStyles) {
        const id = Number(numFmtId);
        const code = formats.get(id);
        if (code === undefined ? isBuiltInDate(id) : isDateCode(code)) found.add(index);
        index += 1;
      }
    },
    close: (name) => {
      if (name === 'cellXfs') isCellStyles = false;
    },
  });
  return found;
};

/** Days, months, years, hours or seconds, outside of what a format shows literally. */
const isDateCode = (code: string): boolean =>
  /[dmyhs]/i.test(
    code
      .slice(0, 255)
      .replace(/"[^"]*"|\\.|\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, '')
      .replace(/general|standard/gi, ''),
  );

/** A day number as ISO 8601, without a time where it has none. */
export const dateText = (value: number, is1904: boolean): string => {
  if (!Number.isFinite(value) || value < 0 || value > 2_958_466) return String(value);
  // Times of day have no date. Excel takes 1900 for a leap year.
  const days = is1904 ? value + 1_462 : value < 60 ? value + 1 : value;
  const at = new Date(Date.UTC(1899, 11, 30) + Math.round((days * DAY_MS) / 1_000) * 1_000).toISOString();
  if (value < 1) return at.slice(11, 19);
  return Number.isInteger(value) ? at.slice(0, 10) : `${at.slice(0, 10)} ${at.slice(11, 19)}`;
};
