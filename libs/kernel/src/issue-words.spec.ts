import { z } from 'zod';
import { asSentence, issueWords, sentenceAbout } from './issue-words';

const words = (schema: z.ZodType, input: unknown): readonly string[] =>
  (schema.safeParse(input, { error: issueWords }).error?.issues ?? []).map(({ message }) => message);

/** Of every kind of issue that a schema can find; their words name no schema, no type of JavaScript and no value. */
const cases: readonly (readonly [z.ZodType, unknown, string])[] = [
  [z.string(), undefined, 'is missing'],
  [z.enum(['a', 'b']), undefined, 'is missing'],
  [z.uuid(), undefined, 'is missing'],
  [z.union([z.string(), z.number()]), undefined, 'is missing'],
  [z.string(), 5, 'must be a string, not a number'],
  [z.string(), null, 'must be a string, not null'],
  [z.number(), '5', 'must be a number, not a string'],
  [z.int(), 1.5, 'must be a whole number, not a fraction'],
  [z.coerce.number(), 'much', 'must be a number'],
  [z.number(), JSON.parse('1e999'), 'is a number that is too large to be read'],
  [z.int(), JSON.parse('-1e999'), 'is a number that is too large to be read'],
  [z.union([z.string(), z.number()]), JSON.parse('1e999'), 'is a number that is too large to be read'],
  [z.string(), JSON.parse('1e999'), 'must be a string, not a number'],
  [z.boolean(), 'yes', 'must be true or false, not a string'],
  [z.object({}), [], 'must be an object, not an array'],
  [z.array(z.string()), {}, 'must be an array, not an object'],
  [z.record(z.string(), z.string()), true, 'must be an object, not true or false'],
  [z.null(), 'x', 'must be null, not a string'],
  [z.enum(['asc', 'desc']), 'up', 'must be one of "asc", "desc"'],
  [z.literal('free'), 'x', 'must be "free"'],
  [z.union([z.string(), z.array(z.string())]), 5, 'must be a string or an array, not a number'],
  [z.string().min(1), '', 'must not be empty'],
  [z.string().min(3), 'a', 'must have at least 3 characters'],
  [z.string().max(1), 'ab', 'must have at most 1 character'],
  [z.string().length(2), 'a', 'must have exactly 2 characters'],
  [z.array(z.string()).min(1), [], 'must not be empty'],
  [z.array(z.string()).max(2), ['a', 'b', 'c'], 'must have at most 2 items'],
  [z.number().min(1), 0, 'must be at least 1'],
  [z.number().positive(), 0, 'must be more than 0'],
  [z.number().lt(5), 5, 'must be less than 5'],
  [z.int().max(5), 6, 'must be at most 5'],
  [z.number().multipleOf(5), 6, 'must be a multiple of 5'],
  [z.uuid(), 'x', 'must be an id (a UUID)'],
  [z.email(), 'x', 'must be an email address such as ada@example.com'],
  [z.url(), 'x', 'must be a URL such as https://example.com'],
  [
    z.iso.datetime({ offset: true }),
    '2026',
    'must be a time in ISO 8601 with its offset, such as 2026-11-01T00:00:00Z',
  ],
  [z.iso.date(), '2026', 'must be a date such as 2026-11-01'],
  [z.string().startsWith('ap_'), 'x', 'must begin with "ap_"'],
  [z.string().endsWith('/'), 'x', 'must end with "/"'],
  [z.string().includes('@'), 'x', 'must contain "@"'],
  [z.string().regex(/^\d$/), 'x', 'has an invalid format; see /docs'],
  [z.string().regex(/^\d$/, 'must be a digit'), 'x', 'must be a digit'],
  [z.string().refine(() => false), 'x', 'has an invalid value'],
  [z.string().refine(() => false, 'must be liked'), 'x', 'must be liked'],
  [z.strictObject({}), { a: 1, b: 2 }, 'has unknown fields: a, b'],
  [z.record(z.string().max(1), z.string()), { ab: 'x' }, 'has an invalid key'],
  [
    z.discriminatedUnion('type', [z.object({ type: z.literal('a') }), z.object({ type: z.literal('b') })]),
    { type: 'c' },
    'must be one of "a", "b"',
  ],
  [
    z.discriminatedUnion('type', [z.object({ type: z.literal('a') }), z.object({ type: z.literal('b') })]),
    {},
    'is missing',
  ],
];

it.each(cases.map(([schema, input, said]) => [said, schema, input] as const))(
  'an invalid value is told that it %s',
  (said, schema, input) => expect(words(schema, input)).toEqual([said]),
);

it('lists at most 30 values', () => {
  const [said = ''] = words(
    z.enum(Array.from({ length: 40 }, (_, index) => `v${index}`) as [string, ...string[]]),
    'x',
  );
  expect(said).toMatch(/"v29", or one of 10 others$/);
});

it.each([
  ['name', 'must not be empty', 'name must not be empty.'],
  ['name', 'Must not be empty.', 'name must not be empty.'],
  ['name', 'is missing', 'name is missing.'],
  ['scope.id', 'Must be left out: the instance has no id.', 'scope.id must be left out: the instance has no id.'],
])('says of %s: %s', (field, said, sentence) => expect(sentenceAbout(field, said)).toBe(sentence));

it('makes sentences', () =>
  expect([asSentence('must be liked'), asSentence('Is known.')]).toEqual(['Must be liked.', 'Is known.']));
