import { defineEvent, EventCodec, type StoredEvent } from '@app/kernel';
import { goldenData, goldenVersions, unfitFields } from '../../../test/fixtures/golden-events';
import { z } from 'zod';
import { eventCatalogue } from './aggregates';

const golden = goldenVersions();
const codec = new EventCodec(eventCatalogue, {
  ensureKey: () => Promise.reject(new Error('nothing is written here')),
  keys: async () => new Map(),
});

const stored = (type: string, schema: number): StoredEvent => ({
  id: '00000000-0000-5000-8000-000000000001',
  type,
  stream: 'golden-1',
  revision: 0,
  position: '0000000000000001',
  data: JSON.stringify(goldenData(type, schema)),
  metadata: JSON.stringify({ schema: String(schema), recordedAt: '2026-11-21T12:00:00.000Z' }),
});

describe('every version of every event that was ever written', () => {
  it.each(eventCatalogue.all().map(({ type, schema }) => [type, schema] as const))(
    '%s has a golden file for each schema up to %i',
    (type, schema) => {
      expect(golden.get(type)).toEqual(Array.from({ length: schema }, (_, index) => index + 1));
    },
  );

  it.each([...golden].flatMap(([type, schemas]) => schemas.map((schema) => [type, schema] as const)))(
    '%s of schema %i is read today',
    async (type, schema) => {
      const [event] = await codec.decode([stored(type, schema)]);
      expect(event?.type).toBe(type);
    },
  );
});

it('names the fields of a golden file that its schema does not take', () => {
  const data = z.strictObject({ spaceId: z.string().regex(/^#/), title: z.string(), text: z.string(), tags: z.any() });
  expect(unfitFields(defineEvent({ type: 'PromptAdded', description: 'Like it.', data }))).toEqual(['spaceId']);
});
