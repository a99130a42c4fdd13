import { threadTime } from '../../../../test/fixtures/processor-time';
import { inputFault } from './input-fault';

const of = (schema: object) => ({ type: 'object', properties: { a: schema } });

describe('what is wrong with an input', () => {
  it.each<[object, unknown]>([
    [{ type: 'string' }, 'x'],
    [{ type: ['integer', 'null'] }, null],
    [{ type: 'number' }, 1.5],
    [{ enum: ['x', { b: [1] }] }, { b: [1] }],
    [{ const: { b: 1, c: 2 } }, { c: 2, b: 1 }],
    [{ type: 'string', minLength: 1, maxLength: 1 }, '🙂'],
    [{ type: 'array', items: { type: 'integer' }, uniqueItems: true }, [1, 2]],
    [{ type: 'object', required: ['b'], additionalProperties: { type: 'string' } }, { b: 'x' }],
    [{ oneOf: [{ type: 'string' }, { type: 'integer' }] }, 7],
    [{ allOf: [{ minimum: 1 }, { maximum: 3 }] }, 2],
    [{ not: { type: 'string' } }, 7],
    [{ multipleOf: 0.1 }, 0.3],
    // Left to the API: a pattern may take for ever.
    [{ pattern: '^(a+)+$', format: 'date' }, `${'a'.repeat(50)}!`],
  ])('is nothing: %j allows %j', (schema, a) => expect(inputFault({ a }, of(schema))).toBeUndefined());

  it.each<[object, unknown, string]>([
    [{ type: 'string' }, 7, 'a must be string.'],
    [{ type: ['integer', 'null'] }, 1.5, 'a must be integer or null.'],
    [{ type: 'object' }, [], 'a must be object.'],
    [{ type: 'array' }, {}, 'a must be array.'],
    [{ enum: ['x', 1] }, 'y', 'a must be one of ["x",1].'],
    [{ const: 'x' }, 'y', 'a must be "x".'],
    [{ minimum: 2 }, 1, 'a must be at least 2.'],
    [{ maximum: 2 }, 3, 'a must be at most 2.'],
    [{ exclusiveMinimum: 2 }, 2, 'a must be more than 2.'],
    [{ exclusiveMaximum: 2 }, 2, 'a must be less than 2.'],
    [{ multipleOf: 5 }, 7, 'a must be a multiple of 5.'],
    [{ minLength: 2 }, '🙂', 'a must have at least 2 characters.'],
    [{ maxLength: 1 }, 'ab', 'a must have at most 1 character.'],
    [{ minItems: 1 }, [], 'a must have at least 1 item.'],
    [{ uniqueItems: true }, [{ b: 1 }, { b: 1 }], 'a must not repeat an item.'],
    [{ maxProperties: 1 }, { b: 1, c: 2 }, 'a must have at most 1 field.'],
    [{ items: { properties: { b: { type: 'string' } } } }, [{}, { b: 7 }], 'a[1].b must be string.'],
    [{ required: ['b'] }, {}, 'a.b is missing.'],
    [{ required: ['constructor'] }, {}, 'a.constructor is missing.'],
    [{ additionalProperties: false }, { b: 1 }, 'a.b is unknown.'],
    [{ additionalProperties: false }, JSON.parse('{"__proto__":1}'), 'a.__proto__ is unknown.'],
    [{ properties: {}, additionalProperties: { type: 'string' } }, { toString: 1 }, 'a.toString must be string.'],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 7, 'a must be one of the alternatives in the schema.'],
    [{ oneOf: [{ minimum: 1 }, { maximum: 9 }] }, 5, 'a must be exactly one of the alternatives in the schema.'],
    [{ allOf: [{ minimum: 1 }, { maximum: 3 }] }, 4, 'a must be at most 3.'],
    [{ not: { type: 'string' } }, 'x', 'a must not be what the schema excludes.'],
  ])('is that %j does not allow %j', (schema, a, said) => expect(inputFault({ a }, of(schema))).toBe(said));

  it('is found within bounds, whatever schema and input are', () => {
    const alternatives = (depth: number): object =>
      depth === 0 ? { type: 'string' } : { items: { anyOf: Array.from({ length: 8 }, () => alternatives(depth - 1)) } };
    let nested: unknown = 7;
    for (let depth = 0; depth < 3; depth += 1) nested = Array.from({ length: 20 }, () => nested);
    const spent = threadTime();
    expect(inputFault({ a: nested }, of(alternatives(3)))).toContain('must');
    const long = { a: Array.from({ length: 60_000 }, () => 1) };
    expect(inputFault(long, of({ items: { allOf: [{}, {}, {}] } }))).toBe(
      'The arguments are too large to check. Send less.',
    );
    expect(spent()).toBeLessThan(500);
  });
});
