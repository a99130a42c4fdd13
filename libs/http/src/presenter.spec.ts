import { z } from 'zod';
import { presenter } from './presenter';

const inner = z.object({ name: z.string(), free: z.record(z.string(), z.unknown()).optional() });
const present = presenter<object>(
  'Shown',
  z.object({
    id: z.string(),
    free: z.unknown(),
    list: z.array(inner),
    one: inner.nullable(),
    at: z.string().nullable(),
  }),
);
const shown = (source: object): unknown => JSON.parse(present(source).text);

describe('a presenter', () => {
  it('shows the fields of its schema, also inside, and no other', () =>
    expect(
      shown({
        id: 'a',
        secret: 's',
        free: [1, { two: [null] }],
        list: [{ name: 'n', secret: 's' }],
        one: null,
        at: null,
      }),
    ).toEqual({ id: 'a', free: [1, { two: [null] }], list: [{ name: 'n' }], one: null, at: null }));

  it('shows values of any keys as they are, also those that every object has', () => {
    const free = { constructor: 'c', toString: ['t'], valueOf: null, deep: { constructor: { prototype: {} } } };
    const row = { id: 'a', free, list: [{ name: 'n', free }], one: { name: 'n', free }, at: null };
    expect(shown(row)).toEqual(row);
  });

  it('shows null for what a row of an earlier release lacks, if that may be null', () =>
    expect(shown({ id: 'a', free: 1, list: [] })).toEqual({ id: 'a', free: 1, list: [], one: null, at: null }));

  it('shows what is erased as such', () =>
    expect(
      shown({ id: { erased: true }, list: [{ erased: true, name: { erased: true } }], one: null, at: null }),
    ).toEqual({ id: { erased: true }, list: [{ erased: true, name: { erased: true } }], one: null, at: null }));

  it('shows nothing beside that an inner object is erased', () => {
    const noted = presenter<object>('Noted', z.object({ one: z.object({ note: z.string().nullable() }) }));
    expect(JSON.parse(noted({ one: { erased: true } }).text)).toEqual({ one: { erased: true } });
  });

  it('shows a field that answers add once, as they have it', () => {
    const owned = z.object({ id: z.string(), owner: z.string().nullable() });
    const item = presenter<object>('Owned', owned, undefined, ['owner']);
    expect(item({ id: 'a', owner: 'secret' }, { owner: 'you' }).text).toBe('{"id":"a","owner":"you"}');
    expect(item({ id: 'a', owner: 'secret' }, { owner: null }).text).toBe('{"id":"a","owner":null}');
  });
});
