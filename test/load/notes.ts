import { randomBytes } from 'node:crypto';
import { openSqliteEventLog } from '@app/event-log';
import {
  type CommandMeta,
  type Decider,
  defineEvent,
  EventCatalogue,
  EventCodec,
  type EventsOf,
  type Keyring,
  type RecordedEvent,
  TimeOrderedIds,
} from '@app/kernel';
import type { RowProjection } from '@app/projecting';
import { z } from 'zod';

/** A simple domain for benchmarks: notes that are written over and over, and their list. */
const NoteWritten = defineEvent({
  type: 'NoteWritten',
  description: 'A note was written.',
  data: z.strictObject({
    title: z.string().max(200),
    body: z.string().max(10_000),
    tags: z.array(z.string()).max(20),
    pinned: z.boolean(),
    size: z.number().int(),
  }),
});
type NoteEvent = EventsOf<[typeof NoteWritten]>;
export type NoteCommand = NoteEvent['data'];

export const notes: Decider<{ readonly written: number }, NoteCommand, NoteEvent> = {
  category: 'note',
  initial: { written: 0 },
  decide: (command) => [{ type: 'NoteWritten', data: command }],
  evolve: (state) => ({ written: state.written + 1 }),
};

export const notesView: RowProjection = {
  kind: 'rows',
  name: 'notes',
  version: 1,
  types: ['NoteWritten'],
  row: z.object({ title: z.string(), pinned: z.boolean(), size: z.number(), updatedAt: z.string() }),
  indexes: [],
  apply: (event) => {
    const { data, context } = event as RecordedEvent<NoteEvent>;
    return [
      {
        op: 'put',
        key: context.stream,
        row: { title: data.title, pinned: data.pinned, size: data.size, updatedAt: context.recordedAt },
      },
    ];
  },
};

const noKeys: Keyring = {
  ensureKey: async () => Promise.reject(new Error('no keys here')),
  keys: async () => new Map(),
};
export const notesCodec = new EventCodec(new EventCatalogue([NoteWritten]), noKeys);

const ids = new TimeOrderedIds();
export const noteMeta = (): CommandMeta => ({
  commandId: ids.next(),
  actor: 'user:bench',
  correlationId: ids.next(),
  now: new Date(),
});
/** About 500 bytes as JSON. */
export const note = (number: number): NoteCommand => ({
  title: `Note ${number}`,
  body: randomBytes(190).toString('hex'),
  tags: ['first', 'second'],
  pinned: number % 7 === 0,
  size: number,
});

/** Fills a log in a folder with notes, five hundred at a time; `streamOf` says which note the n-th event is about. */
export const fillNotes = async (
  folder: string,
  events: number,
  streamOf: (number: number) => string,
): Promise<void> => {
  const log = await openSqliteEventLog({ folder });
  const revisions = new Map<string, number>();
  for (let start = 0; start < events; start += 500) {
    const appends = Array.from({ length: Math.min(500, events - start) }, async (_, index) => {
      const number = start + index;
      const stream = streamOf(number);
      const revision = (revisions.get(stream) ?? -1) + 1;
      revisions.set(stream, revision);
      const written = await notesCodec.encode(stream, [{ type: 'NoteWritten', data: note(number) }], noteMeta(), {});
      await log.append(stream, written, revision === 0 ? 'noStream' : revision - 1);
    });
    await Promise.all(appends);
  }
  await log.close();
};
