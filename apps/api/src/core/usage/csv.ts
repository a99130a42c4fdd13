import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

/** A cell: text, a number, or nothing. */
export type Cell = string | number | boolean | null;

/** The columns of a table of rows: their names and what they hold of a row. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => Cell>>;

/** True where a client asks for CSV, before it asks for JSON or for anything. */
export const wantsCsv = (accept: string | undefined): boolean => {
  const types = (accept ?? '').split(',').map((part) => part.split(';')[0]?.trim().toLowerCase());
  return types.find((type) => type === 'text/csv' || type === 'application/json' || type === '*/*') === 'text/csv';
};

/** Answers with a table as CSV (RFC 4180), its header first, as fast as it is read: a page of rows at a time is in memory. */
export const sendCsv = <Row>(
  reply: FastifyReply,
  name: string,
  columns: Columns<Row>,
  pages: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
): Readable => {
  void reply
    .header('content-type', 'text/csv; charset=utf-8; header=present')
    .header('content-disposition', `attachment; filename="${name}.csv"`);
  return Readable.from(csvOf(columns, pages));
};

/** The text of a table, the header and each page as one piece. */
export async function* csvOf<Row>(
  columns: Columns<Row>,
  pages: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
): AsyncGenerator<string> {
  yield line(Object.keys(columns));
  const cells = Object.values(columns);
  for await (const rows of pages) yield rows.map((row) => line(cells.map((cell) => cell(row)))).join('');
}

const line = (cells: readonly Cell[]): string => `${cells.map(escaped).join(',')}\r\n`;

/** What spreadsheets take for a formula, also in full width (OWASP, CSV injection). */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;
const SPECIAL = /[",\r\n]/;

const escaped = (cell: Cell): string => {
  if (typeof cell !== 'string') return cell === null ? '' : String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return SPECIAL.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
