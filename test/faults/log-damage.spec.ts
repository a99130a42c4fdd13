import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LogCorrupted, openSqliteEventLog, openSqliteLogReader } from '@app/event-log';
import { inRound, rounds, seed, seededNumbers } from './log/rounds';
import { type Contents, copyLog, makeSample, readContents } from './log/sample-log';

/** Fault 3: a tail that was torn off. Fault 4: a bit that flipped, anywhere. */

const number = seededNumbers();
const PAGE = 4096;
const FRAME = 24 + PAGE;
const LONG = 30_000 + rounds(0) * 500;
let sample: string;
let folder: string;
let original: Contents;
beforeAll(async () => {
  sample = mkdtempSync(join(tmpdir(), 'log-sample-'));
  await makeSample(sample);
  original = await readContents(sample);
});
afterAll(() => rmSync(sample, { recursive: true }));
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'log-damage-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const newCopy = (): string => {
  const copy = mkdtempSync(join(folder, 'copy-'));
  copyLog(sample, copy);
  return copy;
};

const flip = (file: string, bit: number): void => {
  const bytes = readFileSync(file);
  bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
  writeFileSync(file, bytes);
};

const cut = (file: string, bytes: number): void => truncateSync(file, statSync(file).size - bytes);

/** What reading gives, or the damage that it names. */
const readOrDamage = async (copy: string): Promise<Contents | LogCorrupted> => {
  try {
    return await readContents(copy);
  } catch (error) {
    if (error instanceof LogCorrupted) return error;
    throw error;
  }
};

/** The events are the first of the original ones, and no append is there in part: appends of several share their `index`. */
const expectWholeBeginning = ({ all }: Contents): void => {
  expect(all).toEqual(original.all.slice(0, all.length));
  const indexOf = (position: number): unknown =>
    (JSON.parse(original.all[position]?.data ?? '{}') as { index?: number }).index;
  expect(indexOf(all.length - 1) === indexOf(all.length)).toBe(false);
};

test('the sample is read the same in every way, and part of it stands in the write-ahead log', () => {
  expect(original.all.length).toBeGreaterThan(200);
  expect(original.streams.flat()).toHaveLength(original.all.length);
  expect(original.backwards).toEqual(original.streams);
  expect(statSync(join(sample, 'events.sqlite-wal')).size).toBeGreaterThan(40 * FRAME);
});

test(
  `a write-ahead log cut by any number of bytes opens, and holds a beginning of whole appends (SEED=${seed})`,
  async () => {
    const cuts = [
      1,
      23,
      24,
      25,
      FRAME - 1,
      FRAME,
      FRAME + 1,
      ...Array.from({ length: rounds(25) }, () => 1 + number(10 * FRAME)),
    ];
    for (const [round, bytes] of cuts.entries()) {
      await inRound(round, async () => {
        const copy = newCopy();
        cut(join(copy, 'events.sqlite-wal'), bytes);
        expectWholeBeginning(await readContents(copy));
        rmSync(copy, { recursive: true });
      });
    }
  },
  LONG,
);

test('a log whose tail was cut off says so, is written on, and is sound from then on', async () => {
  const copy = newCopy();
  cut(join(copy, 'events.sqlite-wal'), 100);
  const kept = (await readContents(copy)).all.length;
  const reader = await openSqliteLogReader({ folder: copy });
  const { notice } = reader;
  await reader.close();

  const log = await openSqliteEventLog({ folder: copy });
  const { writable, reason } = await log.health();
  await log.append(
    'sample-new',
    [{ id: original.all[0]?.id ?? '', type: 'Opened', data: '{}', metadata: '{}' }],
    'noStream',
  );
  await log.close();

  expect(notice).toBe(reason);
  expect({ writable, reason }).toEqual({
    writable: true,
    reason: expect.stringContaining('the tail of the log was cut off'),
  });
  expect((await readContents(copy)).all).toHaveLength(kept + 1);
});

test(`what was not acknowledged may be torn off in silence (SEED=${seed})`, async () => {
  const copy = newCopy();
  cut(join(copy, 'events.sqlite-wal'), 100);
  rmSync(join(copy, 'head'));

  const log = await openSqliteEventLog({ folder: copy });

  expect(await log.health()).toEqual({ writable: true, readable: true });
  await log.close();
});

/** Where a bit may flip. */
const anywhere = (file: string): number => number(statSync(join(sample, file)).size * 8);
/** In a page of the index of streams: where a damaged entry could end a stream before its time. */
const inTheIndex = (file: string): number => {
  const bytes = readFileSync(join(sample, file));
  const isIndex = (page: number): boolean => [2, 10].includes(bytes.readUInt8(page * PAGE));
  const pages = Array.from({ length: bytes.length / PAGE }, (_, page) => page).filter(isIndex);
  return ((pages[number(pages.length)] ?? 0) * PAGE + number(PAGE)) * 8 + number(8);
};

test.each([
  ['events.sqlite', 'anywhere', anywhere],
  ['events.sqlite', 'in the index of streams', inTheIndex],
  ['events.sqlite-wal', 'anywhere', anywhere],
])(
  `a flipped bit in %s, %s, is found or changes nothing (SEED=${seed})`,
  async (file, _where, bitOf) => {
    let found = 0;
    for (let round = 0; round < rounds(40); round += 1) {
      await inRound(round, async () => {
        const copy = newCopy();
        flip(join(copy, file), bitOf(file));
        const outcome = await readOrDamage(copy);
        if (outcome instanceof LogCorrupted) found += 1;
        else expect(outcome).toEqual(original);
        rmSync(copy, { recursive: true });
      });
    }
    expect(found).toBeGreaterThan(rounds(40) / 10);
  },
  LONG,
);

test('a flipped bit in the last frame, where a torn tail would be, is damage when it was acknowledged', async () => {
  const copy = newCopy();
  const wal = join(copy, 'events.sqlite-wal');
  flip(wal, (statSync(wal).size - 1_000) * 8);

  await expect(readContents(copy)).rejects.toThrow(/frame \d+ of the write-ahead log/);
  await expect(openSqliteEventLog({ folder: copy })).rejects.toThrow(LogCorrupted);
});

test('a write-ahead log that is gone with what was acknowledged is damage', async () => {
  const copy = newCopy();
  rmSync(join(copy, 'events.sqlite-wal'));

  await expect(openSqliteEventLog({ folder: copy })).rejects.toThrow(LogCorrupted);
});
