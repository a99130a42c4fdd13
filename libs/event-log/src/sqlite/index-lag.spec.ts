import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoredEvent } from '@app/kernel';
import { type EventLog, type LogReader, openSqliteEventLog, openSqliteLogReader } from '..';
import { newEvents } from '../contract/log-under-test.contract';

/** The index of streams follows behind the log: whatever it knows at a time, streams are read whole. */

const STREAMS = 25;
const nameOf = (stream: number): string => `lag-${stream}`;

let folder: string;
let log: EventLog;
let model: Map<string, { readonly ids: string[]; removed: number }>;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'log-lag-'));
  log = await openSqliteEventLog({ folder });
  model = new Map(Array.from({ length: STREAMS }, (_, stream) => [nameOf(stream), { ids: [], removed: 0 }]));
});
afterEach(async () => {
  await log.close();
  rmSync(folder, { recursive: true });
});

/** Appends to all streams but the first at once; the first is written to in every third burst only. */
const burst = async (number: number, size: number): Promise<void> => {
  await Promise.all(
    [...model].slice(number % 3 === 0 ? 0 : 1).map(async ([stream, { ids }]) => {
      const events = newEvents(size);
      await log.append(stream, events, ids.length === 0 ? 'noStream' : ids.length - 1);
      ids.push(...events.map(({ id }) => id));
    }),
  );
};

const idsOf = (events: readonly StoredEvent[]): string[] => events.map(({ id }) => id);

const expectWhole = async (reader: Pick<LogReader, 'readStream'>): Promise<void> => {
  for (const [stream, { ids, removed }] of model) {
    const middle = Math.max(removed, Math.floor(ids.length / 2));
    expect(idsOf(await reader.readStream(stream))).toEqual(ids.slice(removed));
    expect(idsOf(await reader.readStream(stream, { from: middle, limit: 7 }))).toEqual(ids.slice(middle, middle + 7));
    expect(idsOf(await reader.readStream(stream, { direction: 'backwards', limit: 150 }))).toEqual(
      ids.slice(removed).toReversed().slice(0, 150),
    );
    expect(idsOf(await reader.readStream(stream, { direction: 'backwards', from: middle }))).toEqual(
      ids.slice(removed, middle + 1).toReversed(),
    );
  }
};

const truncate = async (stream: string, before: number): Promise<void> => {
  await log.truncate(stream, before);
  model.set(stream, { ids: model.get(stream)?.ids ?? [], removed: before });
};

it('gives whole streams to its own process and to others while the index follows', async () => {
  const outside = await openSqliteLogReader({ folder });
  for (let number = 0; number < 9; number += 1) {
    await burst(number, 40);
    await expectWhole(log);
    await expectWhole(outside);
  }
  await outside.close();
});

it('removes events that the index knows and those that it does not know yet', async () => {
  const outside = await openSqliteLogReader({ folder });
  await burst(0, 30);
  await expectWhole(outside);
  await truncate(nameOf(3), 10);
  await burst(1, 30);
  await expectWhole(outside);
  await truncate(nameOf(3), 45);
  await truncate(nameOf(4), 60);

  await expectWhole(log);
  await expectWhole(outside);
  await burst(2, 5);
  await expectWhole(log);
  await expectWhole(outside);
  await outside.close();
});

it('gives whole streams after it was opened again, wherever the index had come to', async () => {
  for (let number = 0; number < 3; number += 1) {
    await burst(number, 70);
    await log.close();
    log = await openSqliteEventLog({ folder });
    await burst(number + 1, 3);
    await expectWhole(log);
  }
});
