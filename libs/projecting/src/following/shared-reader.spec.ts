import { randomBytes } from 'node:crypto';
import {
  defineEvent,
  EventCatalogue,
  EventCodec,
  isErased,
  type Keyring,
  sensitive,
  type StoredEvent,
} from '@app/kernel';
import { z } from 'zod';
import { sharedReader } from './shared-reader';

const counted = defineEvent({
  type: 'Counted',
  description: 'Something was counted.',
  data: z.strictObject({ sum: z.number() }),
});
const noted = defineEvent({
  type: 'Noted',
  description: 'A note was taken.',
  data: z.strictObject({ text: sensitive(z.string()) }),
});
const key = randomBytes(32);
const keyring: Keyring = {
  ensureKey: async () => key,
  keys: async (streams) => new Map(streams.map((stream) => [stream, key])),
};
const codec = new EventCodec(new EventCatalogue([counted, noted]), keyring);

const stored = async (type: string, data: Record<string, unknown>): Promise<StoredEvent> => {
  const commandId = '01900000-0000-7000-8000-000000000001';
  const [event] = await codec.encode(
    'things-1',
    [{ type, data }],
    { commandId, correlationId: commandId, actor: 'system:test', now: new Date(0) },
    {},
  );
  return { ...(event as NonNullable<typeof event>), stream: 'things-1', revision: 0, position: '0000000000000001' };
};

describe('what several views follow', () => {
  it('is read once', async () => {
    const reader = sharedReader(codec);
    const event = await stored('Counted', { sum: 3 });
    const read = reader.decodeWith(event, new Map());
    expect(read).toEqual(codec.decodeWith(event, new Map()));
    // As from a log that hands out another copy to each.
    expect(reader.decodeWith({ ...event }, new Map())).toBe(read);
  });

  it('is read by each where it holds content, which does not outlive its key', async () => {
    const reader = sharedReader(codec);
    const event = await stored('Noted', { text: 'hello' });
    expect(reader.decodeWith(event, await reader.keysOf([event])).data).toEqual({ text: 'hello' });
    expect(isErased(reader.decodeWith(event, new Map()).data['text'])).toBe(true);
  });

  it('is rejected to each where it cannot be read', async () => {
    const reader = sharedReader(codec);
    const event = { ...(await stored('Counted', { sum: 3 })), data: '{"sum":"three"}' };
    for (const _ of [1, 2]) expect(() => reader.decodeWith(event, new Map())).toThrow('sum');
  });
});
