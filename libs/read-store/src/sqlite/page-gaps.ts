import { closeSync, openSync, readSync, writeSync } from 'node:fs';

/**
 * The unallocated space of b-tree pages, by SQLite's file format (https://www.sqlite.org/fileformat2.html, 1.6 and 4.1).
 * `secure_delete` overwrites what is deleted, but where SQLite divides pages or joins them, copies of rows stay in the gap between a
 * page's cell pointers and its cells, and nothing ever overwrites those.
 */

const LOG_HEADER = 32;
const FRAME_HEADER = 24;
/** Where the two salts of a write-ahead log begin; they are new whenever it is used anew. */
const SALTS = 16;
const AT_ONCE = 256;
/** Interior and leaf pages of indexes (2, 10) and tables (5, 13). Other pages begin with the number of a page, which is below 2^25 here. */
const INTERIOR: ReadonlySet<number> = new Set([2, 5]);
const LEAF: ReadonlySet<number> = new Set([10, 13]);
/** From so many pages on the first byte of a page no longer says what it is; 128 GiB in pages of 4 KiB. */
export const MOST_PAGES = 2 ** 25;

/** Where the gap of a page begins and ends; undefined where it is no b-tree page, or holds nothing but zeros there. */
export const staleGap = (
  page: Buffer,
  isFirst: boolean,
): { readonly start: number; readonly end: number } | undefined => {
  const header = isFirst ? 100 : 0;
  const kind = page[header] ?? 0;
  if (!INTERIOR.has(kind) && !LEAF.has(kind)) return undefined;
  const start = header + (LEAF.has(kind) ? 8 : 12) + 2 * page.readUInt16BE(header + 3);
  const end = page.readUInt16BE(header + 5) || 65_536;
  // A page that says otherwise is damaged: SQLite finds that.
  if (start >= end || end > page.length) return undefined;
  return page.compare(zeros, 0, end - start, start, end) === 0 ? undefined : { start, end };
};

/** The salts of a write-ahead log, as text; undefined where it is empty. */
export const saltsOf = (logFile: string): string | undefined => {
  const header = Buffer.alloc(LOG_HEADER);
  return opened(logFile, 'r', (log) =>
    readSync(log, header, 0, LOG_HEADER, 0) === LOG_HEADER ? header.toString('hex', SALTS, SALTS + 8) : undefined,
  );
};

/** Zeros the gaps of the pages that frames of a write-ahead log hold, all of which stand in the file already. Nobody may write meanwhile. True where one was not zero. */
export const clearWrittenPages = (
  file: number,
  logFile: string,
  pageSize: number,
  frames: { readonly from: number; readonly to: number },
): boolean =>
  opened(logFile, 'r', (log) => {
    const size = FRAME_HEADER + pageSize;
    const chunk = Buffer.allocUnsafe(Math.max(0, Math.min(AT_ONCE, frames.to - frames.from)) * size);
    const gaps = new Map<number, ReturnType<typeof staleGap>>();
    for (let frame = frames.from; frame < frames.to; frame += AT_ONCE) {
      const count = Math.min(AT_ONCE, frames.to - frame);
      if (readSync(log, chunk, 0, count * size, LOG_HEADER + frame * size) !== count * size)
        throw new Error('the write-ahead log is shorter than its index says');
      for (let place = 0; place < count * size; place += size) {
        const page = chunk.readUInt32BE(place);
        // The last frame of a page is what stands in the file.
        gaps.set(page, staleGap(chunk.subarray(place + FRAME_HEADER, place + size), page === 1));
      }
    }
    let cleared = false;
    for (const [page, gap] of gaps) {
      if (gap === undefined) continue;
      writeSync(file, zeros, 0, gap.end - gap.start, (page - 1) * pageSize + gap.start);
      cleared = true;
    }
    return cleared;
  });

/** Zeros the gaps of pages of the file from one on. Nobody may write meanwhile, and no write-ahead log may hold newer ones. */
export const clearPages = (file: number, pageSize: number, from: number, count: number): void => {
  const chunk = Buffer.allocUnsafe(count * pageSize);
  const read = readSync(file, chunk, 0, chunk.length, (from - 1) * pageSize);
  for (let place = 0; place + pageSize <= read; place += pageSize) {
    const page = from + place / pageSize;
    const gap = staleGap(chunk.subarray(place, place + pageSize), page === 1);
    if (gap !== undefined) writeSync(file, zeros, 0, gap.end - gap.start, (page - 1) * pageSize + gap.start);
  }
};

const zeros = Buffer.alloc(65_536);

const opened = <T>(file: string, flags: string, work: (descriptor: number) => T): T => {
  const descriptor = openSync(file, flags);
  try {
    return work(descriptor);
  } finally {
    closeSync(descriptor);
  }
};
