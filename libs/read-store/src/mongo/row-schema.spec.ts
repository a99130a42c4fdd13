import * as mongoose from 'mongoose';
import { z } from 'zod';
import { freeFormOf, rowSchema } from './row-schema';

const row = z.object({
  id: z.string(),
  type: z.enum(['a', 'b']),
  title: z.union([z.string(), z.strictObject({ erased: z.literal(true) })]),
  rank: z.number().int().nullable(),
  open: z.boolean(),
  tags: z.array(z.string()),
  failure: z.object({ code: z.string(), attempt: z.number() }).nullable(),
  parts: z.array(
    z.discriminatedUnion('type', [
      z.object({ type: z.literal('text'), text: z.string() }),
      z.object({ type: z.literal('call'), input: z.json(), text: z.string() }),
    ]),
  ),
  prices: z.record(z.string(), z.number()),
  mixed: z.union([z.string(), z.number()]),
  parameters: z.record(z.string(), z.unknown()),
});

const schemaOf = (indexes: Parameters<typeof rowSchema>[1]['indexes'] = []) => rowSchema(mongoose, { row, indexes });
const typesOf = (schema: mongoose.Schema): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(schema.paths).map(([path, { instance }]) => [path, instance]));

describe('the mongoose schema of a row', () => {
  it('gives each field the type that it has in the row', () => {
    expect(typesOf(schemaOf())).toMatchObject({
      _id: 'String',
      id: 'String',
      type: 'String',
      title: 'String',
      rank: 'Number',
      open: 'Boolean',
      tags: 'Array',
      failure: 'Embedded',
      parts: 'Array',
      prices: 'Map',
      mixed: 'Mixed',
      parameters: 'Mixed',
      '_meta.position': 'String',
      '_meta.size': 'Number',
    });
    expect(typesOf(schemaOf().path('failure').schema as mongoose.Schema)).toEqual({
      code: 'String',
      attempt: 'Number',
    });
    expect(typesOf(schemaOf().path('parts').schema as mongoose.Schema)).toEqual({
      type: 'String',
      text: 'String',
      input: 'Mixed',
    });
  });

  it('knows where there is free-form JSON: what the row says nothing about', () => {
    expect(freeFormOf(row)).toEqual({
      fields: { parts: { items: { fields: { input: true } } }, parameters: true },
    });
    expect(freeFormOf(z.object({ id: z.string(), prices: z.record(z.string(), z.number()) }))).toBeUndefined();
    expect(freeFormOf(undefined)).toBeUndefined();
  });

  it('has the declared indexes, each with the key at its end, and another for what is unique', () => {
    const fields = [{ field: 'open' }, { field: 'rank', order: 'desc' }] as const;
    expect(
      schemaOf([
        { name: 'by-rank', fields },
        { name: 'ids', fields: [{ field: 'id' }], unique: true },
      ]).indexes(),
    ).toMatchObject([
      [{ open: 1, rank: -1, _id: -1 }, { name: 'by-rank' }],
      [{ id: 1, _id: 1 }, { name: 'ids' }],
      [
        { id: 1 },
        { name: 'ids is unique', unique: true, partialFilterExpression: { id: { $type: expect.any(Array) } } },
      ],
    ]);
    expect(() => schemaOf([{ name: 'x', fields: [{ field: '$where' }] }])).toThrow('no field may be called');
  });
});
