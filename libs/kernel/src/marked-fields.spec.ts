import { z } from 'zod';
import { defineEvent } from './event-definition';
import { heldBlob, releasedBlobs, sensitive } from './marked-fields';
import { nameSchema } from './name-schemas';

const event = (field: z.ZodType) =>
  defineEvent({ type: 'NoteAdded', description: '', data: z.strictObject({ field }) });
const secret = () => sensitive(z.string());
const itself: z.ZodType = z.lazy(() => z.union([secret(), z.array(itself)]));

describe('a mark is found', () => {
  it.each<[string, (schema: z.ZodType) => z.ZodType]>([
    ['alone', (schema) => schema],
    ['with a description', (schema) => schema.describe('Its name.')],
    ['with metadata', (schema) => schema.meta({ title: 'Name' })],
    ['with a check', (schema) => schema.refine((value) => value !== '')],
    ['with a default', (schema) => schema.default('')],
    ['with a default that is parsed', (schema) => schema.prefault('')],
    ['read only', (schema) => schema.readonly()],
    ['optional, with a description behind it', (schema) => schema.optional().describe('Its name.')],
    ['required after all', (schema) => schema.optional().nonoptional()],
  ])('on a field that is declared %s', (_, around) => {
    expect(event(around(secret())).sensitive).toEqual(['field']);
    expect(event(around(heldBlob())).blobs.held).toEqual(['field']);
    expect(event(around(releasedBlobs())).blobs.released).toEqual(['field']);
    expect(() => event(around(nameSchema()))).toThrow('NoteAdded.field is text that people enter');
  });

  it('where a stored body has a further check', () => expect(event(heldBlob().max(100)).blobs.held).toEqual(['field']));
});

describe('an event is rejected whose mark nothing would find', () => {
  it.each<[string, (schema: z.ZodType) => z.ZodType, string]>([
    ['in a record', (schema) => z.record(z.string(), schema), 'field'],
    ['in a tuple', (schema) => z.tuple([z.string(), schema]), 'field'],
    ['in the rest of a tuple', (schema) => z.tuple([z.string()], schema), 'field'],
    ['in an intersection', (schema) => z.intersection(z.object({ a: schema }), z.object({})), 'field'],
    ['behind a transformation', (schema) => schema.transform((value) => value), 'field'],
    ['in a pipe', (schema) => z.string().pipe(schema as z.ZodType<string, string>), 'field'],
    ['in a map', (schema) => z.map(z.string(), schema), 'field'],
    ['in a list of sets', (schema) => z.array(z.set(schema)), 'field[]'],
    ['in the unnamed fields of an object', (schema) => z.object({}).catchall(schema), 'field.*'],
    ['in a record of an object', (schema) => z.object({ a: z.record(z.string(), schema) }), 'field.a'],
    ['in one shape of a union', (schema) => z.union([z.null(), z.tuple([schema])]), 'field'],
  ])('since it stands %s', (_, around, path) => {
    for (const schema of [secret(), heldBlob(), releasedBlobs(), nameSchema()])
      expect(() => event(around(schema))).toThrow(`NoteAdded.${path} holds a marked schema where nothing finds it.`);
  });

  it.each([heldBlob(), releasedBlobs()])('as the name of a stored body in an encrypted value', (name) => {
    for (const value of [name, name.nullable(), z.strictObject({ files: z.array(z.strictObject({ name })) })])
      expect(() => event(sensitive(value))).toThrow('NoteAdded.field holds a marked schema where nothing finds it.');
  });

  it('in a schema of itself', () => expect(() => event(itself)).toThrow('NoteAdded.field holds a marked schema'));
});

it('what nothing marks may stand in any schema, and anything in an encrypted value', () => {
  expect(() => event(z.record(z.string(), z.tuple([z.json(), z.date()])))).not.toThrow();
  expect(event(sensitive(z.record(z.string(), nameSchema()))).sensitive).toEqual(['field']);
});
