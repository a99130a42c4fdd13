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
    expect(shown({ id: 'a', free, list: [{ name: 'n', free }], one: { name: 'n', free } })).toEqual({
      id: 'a',
      free,
      list: [{ name: 'n', free }],
      one: { name: 'n', free },
    });
  });

  it('shows what is erased as such', () =>
    expect(shown({ id: { erased: true }, list: [{ erased: true, name: { erased: true } }] })).toEqual({
      id: { erased: true },
      list: [{ erased: true, name: { erased: true } }],
    }));
});
