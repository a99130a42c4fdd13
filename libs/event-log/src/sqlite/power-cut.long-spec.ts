import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { LogCorrupted } from '../event-log';
import { newEvents } from '../contract/log-under-test.contract';
import { EventTable } from './event-table';
import { HEAD_FILE, LOG_FILE, openForReading } from './log-files';
import { checkBeforeOpening } from './opening-check';
import { openWriter, type Writer } from './writer';

/** What a power cut leaves of a commit that was not synced, and what it never leaves: bytes that were, and are gone. */

const WAL = `${LOG_FILE}-wal`;
/** What the disk writes at once: a block of the file system, of which a sector may be all that is new. */
const BLOCK = 4_096;
const SECTOR = 512;

/** The files of a log at one time. */
interface Files {
  readonly wal: Buffer;
  readonly database: Buffer;
  readonly mark: Buffer;
}

let parent: string;
beforeEach(() => (parent = mkdtempSync(join(tmpdir(), 'power-cut-'))));
afterEach(() => rmSync(parent, { recursive: true }));

const filesIn = (folder: string): Files => ({
  wal: readFileSync(join(folder, WAL)),
  database: readFileSync(join(folder, LOG_FILE)),
  mark: readFileSync(join(folder, HEAD_FILE)),
});

const folderWith = ({ wal, database, mark }: Files): string => {
  const folder = mkdtempSync(join(parent, 'cut-'));
  writeFileSync(join(folder, WAL), wal);
  writeFileSync(join(folder, LOG_FILE), database);
  writeFileSync(join(folder, HEAD_FILE), mark);
  return folder;
};

const append = (writer: Writer, events: number, characters: number): void => {
  const data = JSON.stringify('x'.repeat(characters));
  const [reply] = writer.append([
    { kind: 'append', id: 1, stream: `cut-${events}`, expected: 'any', events: newEvents(events, { data }), bytes: 1 },
  ]);
  if (reply?.kind !== 'appended') throw new Error('it was not appended');
};

/**
 * A log at several times: long ago, before the last commit that was answered, with that, with one behind it of many frames, and
 * with another in the place of that one. `restarted`: its write-ahead log was begun anew, over frames of its last generation.
 */
const makeLog = (restarted: boolean) => {
  const folder = mkdtempSync(join(parent, 'made-'));
  let writer = openWriter(folder, 0);
  const database = new Database(join(folder, LOG_FILE));
  for (let commit = 0; commit < 12; commit += 1) append(writer, 3, 6_000);
  const old = filesIn(folder);
  if (restarted) database.pragma('wal_checkpoint(RESTART)');
  for (let commit = 0; commit < 6; commit += 1) append(writer, 2, 2_500);
  writer.index(true);
  const indexed = filesIn(folder);
  append(writer, 1, 200);
  const answered = filesIn(folder);
  const copy = mkdtempSync(join(parent, 'other-'));
  cpSync(folder, copy, { recursive: true });
  append(writer, 4, 9_000);
  const further = filesIn(folder);
  database.close();
  writer.close();
  writer = openWriter(copy, 0);
  append(writer, 1, 5_000);
  const other = filesIn(copy);
  writer.close();
  return { old, indexed, answered, further, other };
};

/** Opens it as the product does, writes on, and opens it once more; answers how many events there were. */
const openAndGoOn = (folder: string): number => {
  const { head, notice } = checkBeforeOpening(folder);
  expect(notice).toBeUndefined();
  const writer = openWriter(folder, head);
  append(writer, 1, 3_000);
  const after = folderWith(filesIn(folder));
  writer.close();
  expect(checkBeforeOpening(after)).toEqual({ head: head + 1 });
  const database = openForReading(after);
  expect(new EventTable(database).after(0, head + 1)).toHaveLength(head + 1);
  database.close();
  return head;
};

const headOf = (files: Files): number => checkBeforeOpening(folderWith(files)).head;

/** A file before it was made longer. */
const padded = (bytes: Buffer, length: number): Buffer =>
  Buffer.concat([bytes, Buffer.alloc(Math.max(0, length - bytes.length))]);

/** From where to where two states of a file differ. */
const rangeThatDiffers = (before: Buffer, after: Buffer): { readonly from: number; readonly to: number } => {
  let from = 0;
  while (before[from] === after[from]) from += 1;
  let to = after.length;
  while (before[to - 1] === after[to - 1]) to -= 1;
  return { from, to };
};

/** A copy of a file with other bytes at a place, no longer than it was. */
const withBytes = (bytes: Buffer, at: number, content: Buffer): Buffer => {
  const copy = Buffer.from(bytes);
  content.copy(copy, at);
  return copy;
};

const nextBlock = (at: number): number => (Math.floor(at / BLOCK) + 1) * BLOCK;

const zeroes = Buffer.alloc(BLOCK);
const garbage = Buffer.alloc(BLOCK, 'not what was written');

describe.each([[false], [true]])('a log whose write-ahead log was begun anew: %s', (restarted) => {
  let log: ReturnType<typeof makeLog>;
  beforeEach(() => (log = makeLog(restarted)));

  it('opens whole with any page of the commit that was not answered missing or changed, and is written on', () => {
    const { answered, further } = log;
    const head = headOf(answered);
    expect(headOf(further)).toBe(head + 4);
    const before = padded(answered.wal, further.wal.length);
    const { from, to } = rangeThatDiffers(before, further.wal);
    expect(to - from).toBeGreaterThan(8 * BLOCK);
    for (let start = from; start < to; start = nextBlock(start)) {
      for (const content of [zeroes, garbage, before.subarray(start)]) {
        const wal = withBytes(further.wal, start, content.subarray(0, Math.min(nextBlock(start), to) - start));
        for (const mark of [answered.mark, Buffer.alloc(0)])
          expect(openAndGoOn(folderWith({ ...further, mark, wal }))).toBe(head);
      }
    }
  });

  it('opens whole whatever parts of that commit reached the disk, in whatever order', () => {
    const { answered, further } = log;
    const head = headOf(answered);
    const before = padded(answered.wal, further.wal.length);
    const { from, to } = rangeThatDiffers(before, further.wal);
    const sectors = Array.from(
      { length: Math.ceil(to / SECTOR) - Math.floor(from / SECTOR) },
      (_, sector) => (Math.floor(from / SECTOR) + sector) * SECTOR,
    );
    const cut = fc.record({
      survived: fc.subarray(sectors),
      length: fc.integer({ min: answered.wal.length, max: further.wal.length }),
      mark: fc.constantFrom(answered.mark, log.old.mark, Buffer.alloc(0)),
    });
    fc.assert(
      fc.property(cut, ({ survived, length, mark }) => {
        const wal = survived
          .reduce((bytes, sector) => withBytes(bytes, sector, further.wal.subarray(sector, sector + SECTOR)), before)
          .subarray(0, length);
        expect(openAndGoOn(folderWith({ ...answered, wal, mark }))).toBe(wal.equals(further.wal) ? head + 4 : head);
      }),
      { numRuns: 40 },
    );
  });

  it('opens whole where a commit that failed left more frames than the one that took its place', () => {
    const { answered, further, other } = log;
    const { from, to } = rangeThatDiffers(padded(answered.wal, other.wal.length), other.wal);
    expect(to).toBeLessThan(rangeThatDiffers(padded(answered.wal, further.wal.length), further.wal).to);
    expect(openAndGoOn(folderWith({ ...other, wal: withBytes(further.wal, from, other.wal.subarray(from, to)) }))).toBe(
      headOf(other),
    );
  });

  it('is damaged when anything is gone that was answered, or changes nothing', () => {
    const { further } = log;
    const head = headOf(further);
    let found = 0;
    for (let start = 0; start < further.wal.length; start += BLOCK) {
      for (const content of [zeroes, garbage]) {
        const folder = folderWith({ ...further, wal: withBytes(further.wal, start, content) });
        try {
          expect(checkBeforeOpening(folder)).toEqual({ head });
        } catch (error) {
          if (!(error instanceof LogCorrupted)) throw error;
          found += 1;
        }
      }
    }
    expect(found).toBeGreaterThan(2 * 25);
  });

  it('is damaged when a page is gone behind which there are two commits more, though no mark tells of it', () => {
    const { indexed, further } = log;
    const { to } = rangeThatDiffers(padded(log.old.wal, indexed.wal.length), indexed.wal);
    for (let start = 0; start + BLOCK <= to; start += BLOCK) {
      const folder = folderWith({ ...further, mark: Buffer.alloc(0), wal: withBytes(further.wal, start, zeroes) });
      expect(() => checkBeforeOpening(folder)).toThrow(LogCorrupted);
    }
  });
});

describe('a log that was being made', () => {
  it('opens though the journal of its first page is still there', () => {
    const folder = mkdtempSync(join(parent, 'new-'));
    const made = join(folder, 'making.sqlite');
    const database = new Database(made);
    // Written before its commit: what the disk has when power goes.
    database.pragma('cache_size = 1');
    database.exec('BEGIN; CREATE TABLE filler (text TEXT)');
    for (let row = 0; row < 20; row += 1) database.prepare('INSERT INTO filler VALUES (?)').run('x'.repeat(3_000));
    writeFileSync(join(folder, LOG_FILE), readFileSync(made).subarray(0, BLOCK));
    writeFileSync(join(folder, `${LOG_FILE}-journal`), readFileSync(`${made}-journal`));
    database.close();

    expect(checkBeforeOpening(folder)).toEqual({ head: 0 });
    const writer = openWriter(folder, 0);
    append(writer, 1, 10);
    expect(writer.head).toBe(1);
    writer.close();
  });
});
