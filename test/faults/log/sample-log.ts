import { randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteEventLog, openSqliteLogReader } from '@app/event-log';
import type { NewEvent, StoredEvent } from '@app/kernel';
import { wholeLog } from '../../fixtures/whole-log';

/**
 * A log as a power cut leaves it: part in the database, part in the write-ahead log, all of it acknowledged. Some streams
 * stand in the database alone, so that pages of it are read that the write-ahead log does not replace.
 */

const STREAMS = 30;
const STREAMS_IN_WAL = 3;
const nameOf = (stream: number): string =>
  `sample-${String(stream).padStart(2, '0')}-of-some-length-as-names-of-streams-have`;
const FILES = ['events.sqlite', 'events.sqlite-wal', 'head'];

const append = async (
  folder: string,
  count: number,
  streams: number,
  revisions: number[],
  whileOpen: () => void,
): Promise<void> => {
  const log = await openSqliteEventLog({ folder });
  for (let index = 0; index < count; index += 1) {
    const stream = index % streams;
    const events = Array.from({ length: 1 + (index % 3) }, (_, part): NewEvent => ({
      id: randomUUID(),
      type: index % 2 === 0 ? 'Opened' : 'Moved',
      data: JSON.stringify({ index, part, text: 'x'.repeat(40 + ((index * 37) % 900)) }),
      metadata: '{"schema":"1"}',
    }));
    const revision = revisions[stream] ?? -1;
    revisions[stream] = (await log.append(nameOf(stream), events, revision < 0 ? 'noStream' : revision)).revision;
  }
  whileOpen();
  await log.close();
};

/** Makes the log in `folder`. */
export const makeSample = async (folder: string): Promise<void> => {
  const revisions: number[] = [];
  const source = join(folder, 'made-in');
  await append(source, 150, STREAMS, revisions, () => undefined);
  await append(source, 40, STREAMS_IN_WAL, revisions, () => copyLog(source, folder));
};

export const copyLog = (from: string, to: string): void => {
  mkdirSync(to, { recursive: true });
  for (const file of FILES) if (existsSync(join(from, file))) copyFileSync(join(from, file), join(to, file));
};

/** Everything that can be read, by every way of reading. */
export interface Contents {
  readonly all: readonly StoredEvent[];
  readonly opened: readonly StoredEvent[];
  readonly streams: readonly (readonly StoredEvent[])[];
  readonly backwards: readonly (readonly StoredEvent[])[];
}

export const readContents = async (folder: string): Promise<Contents> => {
  const log = await openSqliteLogReader({ folder });
  try {
    const names = Array.from({ length: STREAMS }, (_, index) => nameOf(index));
    const streams = await Promise.all(names.map((name) => log.readStream(name)));
    const backwards = await Promise.all(names.map((name) => log.readStream(name, { direction: 'backwards' })));
    return {
      all: await wholeLog(log),
      opened: await wholeLog(log, { filter: { types: ['Opened'] } }),
      streams,
      backwards: backwards.map((events) => events.toReversed()),
    };
  } finally {
    await log.close();
  }
};
