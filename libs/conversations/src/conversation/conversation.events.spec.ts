import { randomBytes } from 'node:crypto';
import { type DataKey, defineEvent, EventCatalogue, EventCodec, sensitive, type StoredEvent } from '@app/kernel';
import { z } from 'zod';
import { assistantMessageContinued } from './conversation.events';
import { continuedParts } from './message-parts';

const key = randomBytes(32);
const codec = (
  definition: typeof before | typeof assistantMessageContinued,
  keys = new Map<string, DataKey>([[STREAM, key]]),
) => new EventCodec(new EventCatalogue([definition]), { ensureKey: async () => key, keys: async () => keys });
const STREAM = 'conversation-1';
const id = '01990000-0000-7000-8000-000000000001';
const meta = { commandId: id, correlationId: id, actor: 'user:1', now: new Date(0) };

/** As 1.5.0 had it: what was said is text, encrypted at its own field. */
const before = defineEvent({
  type: 'AssistantMessageContinued',
  description: 'A streaming answer continued.',
  data: z.strictObject({
    conversationId: z.uuid(),
    messageId: z.uuid(),
    parentId: z.uuid(),
    from: z.number(),
    text: sensitive(z.string()),
  }),
});

it('what an answer said before it had parts is read as text, and as erased without its key', async () => {
  const data = { conversationId: id, messageId: id, parentId: id, from: 5, text: 'more' };
  const encoded = await codec(before).encode(STREAM, [{ type: before.type, data }], meta, {});
  const stored = { ...encoded[0], stream: STREAM, revision: 0, position: '1' } as StoredEvent;
  expect(stored.data).not.toContain('more');
  const read = async (keys?: Map<string, DataKey>) => {
    const [event] = await codec(assistantMessageContinued, keys).decode([stored]);
    return event?.data as Parameters<typeof continuedParts>[0] & { part: number; offset: number };
  };
  expect(await read()).toMatchObject({ part: 0, offset: 5 });
  expect(continuedParts(await read())).toEqual([{ type: 'text', text: 'more' }]);
  expect(continuedParts(await read(new Map()))).toEqual({ erased: true });
});
