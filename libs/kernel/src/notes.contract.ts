import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import {
  type CommandMeta,
  Decisions,
  type Decider,
  defineEvent,
  EventCatalogue,
  EventCodec,
  type EventsOf,
  type Keyring,
  type NewEvent,
  type ReadIndex,
  reject,
  sensitive,
  type StoredEvent,
  type StreamLog,
  TimeOrderedIds,
  Unavailable,
  WrongExpectedRevision,
} from '.';

const Noted = defineEvent({
  type: 'Noted',
  description: 'A note was taken.',
  data: z.strictObject({ text: sensitive(z.string()), size: z.number() }),
});
const Closed = defineEvent({ type: 'Closed', description: 'The notes were closed.', data: z.strictObject({}) });
export type NoteEvent = EventsOf<[typeof Noted, typeof Closed]>;
export type NoteCommand = { type: 'Note'; text: string } | { type: 'Close' };
interface Notes {
  texts: readonly unknown[];
  closed: boolean;
}

/** Takes notes until they are closed. */
export const notes: Decider<Notes, NoteCommand, NoteEvent> = {
  category: 'notes',
  initial: { texts: [], closed: false },
  decide: (command, state) => {
    if (state.closed) return command.type === 'Close' ? [] : reject('conflict');
    return command.type === 'Close'
      ? [{ type: 'Closed', data: {} }]
      : [{ type: 'Noted', data: { text: command.text, size: command.text.length } }];
  },
  evolve: (state, event) =>
    event.type === 'Closed' ? { ...state, closed: true } : { ...state, texts: [...state.texts, event.data.text] },
  owner: () => ({ userId: 'u1' }),
};

/** A log in memory with the one rule that decisions lean on; `before` runs ahead of each append, as a rival would. */
export class MemoryLog implements StreamLog {
  readonly events: StoredEvent[] = [];
  before: () => Promise<void> = async () => undefined;
  /** Set while the log is away. */
  isDown = false;
  reads = 0;
  /** Where streams end, as far as a log knows that by heart. */
  endOf?: (stream: string) => number | undefined;
  readIndex?: ReadIndex & { timeline: number };

  async append(stream: string, events: readonly NewEvent[], expected: number | string) {
    await this.before();
    const actual = this.events.filter((event) => event.stream === stream).length - 1;
    if (expected !== (actual < 0 ? 'noStream' : actual))
      throw new WrongExpectedRevision(stream, expected as number, actual);
    events.forEach((event, index) =>
      this.events.push({ ...event, stream, revision: actual + 1 + index, position: String(this.events.length) }),
    );
    return { position: String(this.events.length - 1), revision: actual + events.length };
  }

  async readStream(stream: string, { from = 0, limit = Infinity }: { from?: number; limit?: number } = {}) {
    this.reads += 1;
    if (this.isDown) throw new Unavailable('event log', 'it is away');
    return this.events.filter((event) => event.stream === stream && event.revision >= from).slice(0, limit);
  }
}

export const ids = new TimeOrderedIds();
export const meta = (given: Partial<CommandMeta> = {}): CommandMeta => ({
  commandId: ids.next(),
  actor: 'user:u1',
  correlationId: ids.next(),
  now: new Date(),
  ...given,
});

export const setUp = () => {
  const log = new MemoryLog();
  const held = new Map<string, Buffer>();
  const keyring: Keyring = {
    ensureKey: async (stream) => held.get(stream) ?? (held.set(stream, randomBytes(32)).get(stream) as Buffer),
    keys: async (streams) => new Map([...held].filter(([stream]) => streams.includes(stream))),
  };
  const codec = new EventCodec(new EventCatalogue([Noted, Closed]), keyring);
  return { log, held, keyring, codec, decisions: new Decisions(log, codec) };
};
