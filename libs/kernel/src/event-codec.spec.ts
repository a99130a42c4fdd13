import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import {
  dataKeyOf,
  decodeContext,
  decryptField,
  defineEvent,
  encryptField,
  EventCatalogue,
  EventCodec,
  type Keyring,
  sensitive,
  type StoredEvent,
} from '.';

const Renamed = defineEvent({
  type: 'Renamed',
  description: 'Something was renamed.',
  data: z.strictObject({ title: z.string(), language: z.enum(['de', 'en']) }),
  upcasters: [({ name, ...rest }) => ({ ...rest, title: name }), (data) => ({ ...data, language: 'en' })],
});
const Counted = defineEvent({
  type: 'Counted',
  description: 'Something was counted.',
  data: z.strictObject({ count: z.number() }),
  upcasters: [({ counts }) => ({ count: (counts as readonly number[]).length })],
});
const noKeys: Keyring = { ensureKey: async () => randomBytes(32), keys: async () => new Map() };
const codec = new EventCodec(new EventCatalogue([Renamed, Counted]), noKeys);
const stored = (schema: number, data: object, type = 'Renamed'): StoredEvent => ({
  id: '00000000-0000-7000-8000-000000000001',
  type,
  stream: 'thing-1',
  revision: 0,
  position: '1',
  data: JSON.stringify(data),
  metadata: JSON.stringify({ schema: String(schema), recordedAt: '2026-01-01T00:00:00.000Z', actor: 'user:1' }),
});

describe('EventCodec', () => {
  it.each([
    [1, { name: 'a' }],
    [2, { title: 'a' }],
    [3, { title: 'a', language: 'en' }],
  ])('lifts schema %i to the newest', async (schema, data) => {
    const [event] = await codec.decode([stored(schema, data)]);
    expect(event?.data).toEqual({ title: 'a', language: 'en' });
  });

  it.each([
    ['unknown_type', 'unknown type', stored(1, {}, 'Unheard')],
    ['newer_schema', 'schema 4, known up to 3', stored(4, { title: 'a', language: 'en' })],
    ['schema', 'its schema is no number from 1 on', { ...stored(3, {}), metadata: '{"schema":"x"}' }],
    ['schema', 'its schema is no number from 1 on', { ...stored(3, {}), metadata: '{"schema":0}' }],
    ['schema', 'title invalid_type', stored(3, { title: 7, language: 'en' })],
    ['schema', 'unrecognized_keys', stored(3, { title: 'a', language: 'en', more: 1 })],
    ['schema', 'its data are no object', { ...stored(3, {}), data: '{"title":' }],
    ['schema', 'its data are no object', { ...stored(3, {}), data: 'null' }],
    ['schema', 'its data are not of schema 1', stored(1, {}, 'Counted')],
    ['schema', 'its metadata are no object', { ...stored(3, {}), metadata: '{"entity":' }],
  ])('rejects loudly what it cannot understand: %s', async (reason, detail, event) => {
    await expect(codec.decode([event])).rejects.toMatchObject({
      name: 'UnreadableEvent',
      reason,
      message: expect.stringMatching(`: ${detail}$`) as string,
    });
  });

  it('reads of damaged metadata what they say, and asks no keys by them', async () => {
    const damaged = { ...stored(3, {}), metadata: '{"entity":' };
    const changed = {
      ...stored(3, {}),
      metadata: '{"actor":7,"requestId":{},"recordedAt":"2026-01-01T00:00:00.000Z"}',
    };

    expect(decodeContext(damaged).context).toMatchObject({ stream: 'thing-1', actor: '', recordedAt: '' });
    expect(decodeContext(changed).context).toMatchObject({ actor: '', recordedAt: '2026-01-01T00:00:00.000Z' });
    expect(decodeContext(changed).context.requestId).toBeUndefined();
    await expect(codec.keysOf([damaged])).resolves.toEqual(new Map());
    expect(dataKeyOf(damaged)).toBe('thing-1');
  });

  it('rejects to write what its schema does not allow', async () => {
    const meta = {
      commandId: '00000000-0000-7000-8000-000000000002',
      actor: 'user:1',
      correlationId: '00000000-0000-7000-8000-000000000002',
      now: new Date(0),
    };
    await expect(
      codec.encode('thing-1', [{ type: 'Renamed', data: { title: 'a', language: 'fr' } }], meta, {}),
    ).rejects.toMatchObject({ name: 'ZodError' });
  });
});

describe('content inside objects and lists', () => {
  const Opened = defineEvent({
    type: 'Opened',
    description: 'A shop was opened.',
    data: z.strictObject({
      sign: z.strictObject({ lit: z.boolean(), text: sensitive(z.string()) }),
      shelves: z.array(z.strictObject({ id: z.string(), label: sensitive(z.string()).optional() })).optional(),
      note: sensitive(z.string()).nullable().exactOptional(),
    }),
  });
  const key = randomBytes(32);
  const keys = new Map([['shop-1', key]]);
  const shops = new EventCodec(new EventCatalogue([Opened]), { ensureKey: async () => key, keys: async () => keys });
  const meta = {
    commandId: '00000000-0000-7000-8000-000000000002',
    actor: 'user:1',
    correlationId: '00000000-0000-7000-8000-000000000002',
    now: new Date(0),
  };
  const data = {
    sign: { lit: true, text: 'Bread' },
    shelves: [{ id: 'a', label: 'Rolls' }, { id: 'b' }, { id: 'c', label: 'Rye' }],
    note: 'Closed on Mondays',
  };
  const written = async (given: object) => {
    const [event] = await shops.encode(
      'shop-1',
      [{ type: 'Opened', data: given as Record<string, unknown> }],
      meta,
      {},
    );
    return { ...event, stream: 'shop-1', revision: 0, position: '1' } as StoredEvent;
  };

  it('is encrypted where it stands, and the rest is not', async () => {
    expect(Opened.sensitive).toEqual(['sign.text', 'shelves[].label', 'note']);
    const event = await written(data);
    const secret = { $encrypted: expect.any(String) as string };
    expect(JSON.parse(event.data)).toEqual({
      sign: { lit: true, text: secret },
      shelves: [{ id: 'a', label: secret }, { id: 'b' }, { id: 'c', label: secret }],
      note: secret,
    });
    expect(data.sign.text).toBe('Bread');
    expect(shops.decodeWith(event, keys).data).toEqual(data);
    expect(shops.decodeWith(await written({ sign: data.sign }), keys).data).toEqual({ sign: data.sign });
  });

  it('reads as erased without its key, and as it was written where it was written in clear', async () => {
    const erased = { erased: true };
    expect(shops.decodeWith(await written(data), new Map()).data).toEqual({
      sign: { lit: true, text: erased },
      shelves: [{ id: 'a', label: erased }, { id: 'b' }, { id: 'c', label: erased }],
      note: erased,
    });
    expect(shops.decodeWith({ ...(await written(data)), data: JSON.stringify(data) }, new Map()).data).toEqual(data);
  });

  it('is damaged where its key does not open it', async () => {
    const moved = { ...(await written(data)), stream: 'shop-2' };
    expect(() => shops.decodeWith(moved, new Map([['shop-2', key]]))).toThrow('sign.text is not what was encrypted');
  });
});

describe('an event of an entity', () => {
  const text = sensitive(z.string());
  const before = defineEvent({
    type: 'NoteWritten',
    description: 'A note was written in a book.',
    data: z.strictObject({ noteId: z.string(), text }),
  });
  const Written = defineEvent({
    type: 'NoteWritten',
    description: 'A note was written in a book.',
    data: z.strictObject({ noteId: z.string().nullable(), text }),
    entity: 'noteId',
    upcasters: [(data) => data],
  });
  const made = new Map<string, Buffer>();
  const asked: string[][] = [];
  const keyring: Keyring = {
    ensureKey: async (name) => made.get(name) ?? (made.set(name, randomBytes(32)).get(name) as Buffer),
    keys: async (names) => {
      asked.push([...names]);
      return new Map([...made].filter(([name]) => names.includes(name)));
    },
  };
  const books = new EventCodec(new EventCatalogue([Written]), keyring);
  const meta = {
    commandId: '00000000-0000-7000-8000-000000000002',
    actor: 'user:1',
    correlationId: '00000000-0000-7000-8000-000000000002',
    now: new Date(0),
  };
  const written = async (by: EventCodec, ...notes: readonly (string | null)[]): Promise<StoredEvent[]> => {
    const events = notes.map((noteId) => ({ type: 'NoteWritten', data: { noteId, text: `of ${noteId}` } }));
    return (await by.encode('book-1', events, meta, {})).map((event) => ({
      ...event,
      stream: 'book-1',
      revision: 0,
      position: '1',
    }));
  };
  beforeEach(() => {
    made.clear();
    asked.length = 0;
  });
  const textsOf = async (events: readonly StoredEvent[]) =>
    (await books.decode(events)).map(({ data }) => data['text']);

  it('stands under the key of that entity, or of the stream where it names none', async () => {
    const events = await written(books, 'n1', 'n2', 'n1', null);
    expect([...made.keys()]).toEqual(['book-1/n1', 'book-1/n2', 'book-1']);
    expect(await textsOf(events)).toEqual(['of n1', 'of n2', 'of n1', 'of null']);
    expect(asked).toEqual([['book-1/n1', 'book-1/n2', 'book-1']]);
    made.delete('book-1/n1');
    expect(await textsOf(events)).toEqual([{ erased: true }, 'of n2', { erased: true }, 'of null']);
  });

  it('stays under the key of the stream where it was written before entities had keys', async () => {
    const events = await written(new EventCodec(new EventCatalogue([before]), keyring), 'n1');
    expect([...made.keys()]).toEqual(['book-1']);
    expect(await textsOf(events)).toEqual(['of n1']);
  });
});

test('a catalogue rejects two definitions of one type', () => {
  expect(() => new EventCatalogue([Renamed, Renamed])).toThrow('Renamed is defined twice');
});

test('an encrypted field opens with its key at its place only', () => {
  const key = randomBytes(32);
  const field = encryptField(key, 'agent-1/systemPrompt', { text: 'secret' });
  expect(decryptField(key, 'agent-1/systemPrompt', field)).toEqual({ text: 'secret' });
  expect(() => decryptField(key, 'agent-2/systemPrompt', field)).toThrow('authenticate');
  expect(() => decryptField(randomBytes(32), 'agent-1/systemPrompt', field)).toThrow('authenticate');
});
