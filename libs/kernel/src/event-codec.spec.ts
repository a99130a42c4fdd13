import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { decryptField, defineEvent, encryptField, EventCatalogue, EventCodec, type Keyring, type StoredEvent } from '.';

const Renamed = defineEvent({
  type: 'Renamed',
  description: 'Something was renamed.',
  data: z.strictObject({ title: z.string(), language: z.enum(['de', 'en']) }),
  upcasters: [
    ({ name, ...rest }) => ({ ...rest, title: name }),
    (data) => ({ ...data, language: 'en' }),
  ],
});
const noKeys: Keyring = { ensureKey: async () => randomBytes(32), keys: async () => new Map() };
const codec = new EventCodec(new EventCatalogue([Renamed]), noKeys);
const stored = (schema: number, data: object, type = 'Renamed'): StoredEvent => ({
  id: '00000000-0000-7000-8000-000000000001', type, stream: 'thing-1', revision: 0, position: '1',
  data: JSON.stringify(data), metadata: JSON.stringify({ schema: String(schema), recordedAt: '2026-01-01T00:00:00.000Z', actor: 'user:1' }),
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
    ['unknown_type', stored(1, {}, 'Unheard')],
    ['newer_schema', stored(4, { title: 'a', language: 'en' })],
    ['schema', stored(3, { title: 7, language: 'en' })],
    ['schema', stored(3, { title: 'a', language: 'en', more: 1 })],
  ])('refuses loudly what it cannot understand: %s', async (reason, event) => {
    await expect(codec.decode([event])).rejects.toMatchObject({ name: 'UnreadableEvent', reason });
  });

  it('refuses to write what its schema does not allow', async () => {
    const meta = { commandId: '00000000-0000-7000-8000-000000000002', actor: 'user:1', correlationId: '00000000-0000-7000-8000-000000000002', now: new Date(0) };
    await expect(codec.encode('thing-1', [{ type: 'Renamed', data: { title: 'a', language: 'fr' } }], meta, {})).rejects.toMatchObject({ name: 'ZodError' });
  });
});

test('a catalogue refuses two definitions of one type', () => {
  expect(() => new EventCatalogue([Renamed, Renamed])).toThrow('Renamed is defined twice');
});

test('an encrypted field opens with its key at its place only', () => {
  const key = randomBytes(32);
  const field = encryptField(key, 'agent-1/systemPrompt', { text: 'secret' });
  expect(decryptField(key, 'agent-1/systemPrompt', field)).toEqual({ text: 'secret' });
  expect(() => decryptField(key, 'agent-2/systemPrompt', field)).toThrow('authenticate');
  expect(() => decryptField(randomBytes(32), 'agent-1/systemPrompt', field)).toThrow('authenticate');
});
