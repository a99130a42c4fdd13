import { parse } from 'papaparse';
import { decodeText } from '../encodings';
import { type Extraction, fail, type SourceFile } from '../extraction';
import { Table } from '../table';
import { TextBuilder } from '../text-builder';
import { charsetOf } from './plain';

const DELIMITERS = [';', ',', '\t', '|'];
/** Characters in which delimiters are counted. */
const SAMPLE = 64 * 1024;

/** Rows of separated values: each row with the names of its columns, at its number. Row 1 is the first line. */
export const extractSeparated = ({ body, mimeType }: SourceFile, format: 'csv' | 'tsv'): Extraction => {
  const text = decodeText(body, 'invalid_text', charsetOf(mimeType));
  if (text.trim() === '') fail('empty_document');
  const table = new Table();
  // Excel takes the delimiter from a first line that says it, and does not show that line.
  const said = /^sep=(.)\r?\n/i.exec(text);
  let number = said === null ? 0 : 1;
  parse<readonly string[]>(text.slice(said?.[0].length ?? 0), {
    delimiter: format === 'tsv' ? '\t' : (said?.[1] ?? delimiterOf(text)),
    step: ({ data }) => {
      number += 1;
      table.add(number, data);
    },
  });
  const builder = new TextBuilder();
  table.write(builder, {});
  return builder.build();
};

/** The delimiter that the first lines have most alike: in German files it is mostly the semicolon. */
const delimiterOf = (text: string): string => {
  const lines = text
    .slice(0, SAMPLE)
    .replace(/"(?:[^"]|"")*"/g, '')
    .split(/\r\n?|\n/)
    .filter((line) => line !== '')
    .slice(0, 20);
  const fewest = (delimiter: string): number =>
    lines.reduce((least, line) => Math.min(least, line.split(delimiter).length - 1), Infinity);
  const [best = ','] = DELIMITERS.toSorted((a, b) => fewest(b) - fewest(a));
  return fewest(best) === 0 || fewest(best) === Infinity ? mostOf(lines) : best;
};

/** Where no delimiter is in every line: the one that is there most. */
const mostOf = (lines: readonly string[]): string => {
  const count = (delimiter: string): number => lines.reduce((sum, line) => sum + line.split(delimiter).length, 0);
  const [best = ','] = DELIMITERS.toSorted((a, b) => count(b) - count(a));
  return best;
};
