import { randomBytes } from 'node:crypto';
import {
  defineEvent,
  encryptField,
  EventCatalogue,
  EventCodec,
  fieldPlace,
  type ReadStreamOptions,
  type RecordedEvent,
  sensitive,
  type StoredEvent,
} from '@app/kernel';
import { z } from 'zod';
import { type ObjectEvents, type ObjectMoment, ObjectReader } from './object-reader';

const define = (type: string) =>
  defineEvent({
    type,
    description: 'Something changed.',
    data: z.strictObject({ text: sensitive(z.string()), room: z.string() }),
  });
const TYPES = ['Changed', 'Painted'];
const place = {
  streams: ['lamp-1'],
  types: TYPES,
  related: (first: RecordedEvent) => [`room-${String(first.data['room'])}`],
};
const secondsIn = (seconds: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString();

/** A log of two streams whose events alternate; of the first, every fifth event is of a type that nobody asks for. */
const setUp = ({ count, text = 'x' }: { count: number; text?: string }) => {
  const keys = new Map([['lamp-1', randomBytes(32)]]);
  const keyring = {
    ensureKey: async () => randomBytes(32),
    keys: async (streams: readonly string[]) => new Map([...keys].filter(([stream]) => streams.includes(stream))),
  };
  const codec = new EventCodec(new EventCatalogue(['Changed', 'Painted', 'Dusted'].map(define)), keyring);
  const events: StoredEvent[] = [];
  for (let index = 0; index < count; index += 1) {
    const stream = index % 2 === 0 ? 'lamp-1' : 'room-r1';
    const key = keys.get(stream) ?? randomBytes(32);
    events.push({
      id: `e${index}`,
      stream,
      revision: Math.floor(index / 2),
      position: String(index).padStart(6, '0'),
      type: index % 10 === 8 ? 'Dusted' : index % 2 === 0 ? 'Changed' : 'Painted',
      data: JSON.stringify({ text: encryptField(key, fieldPlace(stream, 'text'), `${text}${index}`), room: 'r1' }),
      metadata: JSON.stringify({ actor: 'user:u1', schema: '1', recordedAt: secondsIn(index === 7 ? 4 : index) }),
    });
  }
  const pages: number[] = [];
  const log = {
    readStream: async (stream: string, { from = 0, limit = Infinity }: ReadStreamOptions = {}) => {
      const page = events.filter((event) => event.stream === stream && event.revision >= from).slice(0, limit);
      pages.push(page.reduce((sum, { data }) => sum + data.length, 0));
      return page;
    },
  };
  const reader = new ObjectReader(log, codec, keyring);
  const read = async (found: ObjectEvents | undefined, content = true) => {
    const texts: unknown[] = [];
    if (found !== undefined) for await (const { data } of reader.read(found, content)) texts.push(data['text']);
    return texts;
  };
  return { reader, read, keys, pages, events };
};

describe('the events of an object', () => {
  it('are counted without being decrypted, then read in log order, those of what it belongs to between its own', async () => {
    const { reader, read } = setUp({ count: 100 });
    const found = await reader.find(place);
    expect(found).toMatchObject({ count: 90, first: '000000', last: '000099', upTo: '000099', holdContent: true });
    const asked = [...Array(100).keys()].filter((index) => index % 10 !== 8);
    expect(await read(found)).toEqual(asked.map((index) => (index % 2 === 0 ? `x${index}` : { erased: true })));
    expect(await read(found, false)).toEqual(asked.map(() => ({ erased: true })));
  });

  it.each<[ObjectMoment, number | null]>([
    [{ position: '000012' }, 12],
    [{ position: '000018' }, 17],
    // The event at 7 was recorded by a clock that went behind.
    [{ time: secondsIn(5) }, 7],
    [{ time: '2025-01-01T00:00:00.000Z' }, null],
    [{ revision: 3 }, 6],
    // The revision is there, but changed nothing that is shown.
    [{ revision: 4 }, 6],
    [{ revision: 10_000 }, null],
  ])('end at %j', async (moment, last) => {
    const { reader, read, events } = setUp({ count: 40 });
    const found = await reader.find(place, moment);
    expect(found?.upTo).toBe(last === null ? null : events[last]?.position);
    expect((await read(found)).at(-1)).toEqual(
      last === null ? undefined : last % 2 === 0 ? `x${last}` : { erased: true },
    );
    expect(found).toMatchObject({ count: 36, first: '000000', last: '000039' });
  });

  it('hold no content once their key is gone', async () => {
    const { reader, keys } = setUp({ count: 10 });
    keys.clear();
    expect(await reader.find(place)).toMatchObject({ count: 9, holdContent: false });
  });

  it('are none of an object that never was', async () => {
    expect(await setUp({ count: 10 }).reader.find({ ...place, streams: ['lamp-2'] })).toBeUndefined();
  });

  it('are read in pages of a few megabytes, however long the history is', async () => {
    const { reader, read, pages } = setUp({ count: 400, text: 'long '.repeat(20_000) });
    expect(await read(await reader.find(place))).toHaveLength(360);
    expect(Math.max(...pages)).toBeLessThan(4 * 1024 * 1024);
  });

  it('are read no further once nobody waits for them', async () => {
    const { reader, pages } = setUp({ count: 400, text: 'long '.repeat(20_000) });
    const left = new AbortController();
    const reading = reader.find(place, undefined, left.signal);
    left.abort(new Error('left'));
    await expect(reading).rejects.toThrow('left');
    expect(pages.length).toBeLessThan(10);
  });
});
