import fc from 'fast-check';
import { canonicalJson, type Json } from './canonical-json';

describe('canonical JSON', () => {
  it.each<[string, unknown, string]>([
    ['sorts keys at every depth', { b: 1, a: [{ d: null, c: true }] }, '{"a":[{"c":true,"d":null}],"b":1}'],
    [
      'sorts by UTF-16 units',
      { '\u20ac': 1, '\ud83d\ude00': 2, '\ufb33': 3, z: 4, A: 5 },
      '{"A":5,"z":4,"€":1,"\ud83d\ude00":2,"\ufb33":3}',
    ],
    [
      'puts whole numbers first, by number',
      { a: 1, 10: 2, 9: 3, '01': 4, '-1': 5 },
      '{"9":3,"10":2,"-1":5,"01":4,"a":1}',
    ],
    ['leaves out what is undefined', { a: undefined, b: [undefined] }, '{"b":[null]}'],
    ['writes numbers as JSON does', [1e21, 1e-7, -0, 0.1 + 0.2, NaN], '[1e+21,1e-7,0,0.30000000000000004,null]'],
    ['writes dates as text', { at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
    ['escapes as JSON does', '"\\\u0007\u2028\ud800é', '"\\"\\\\\\u0007\u2028\\ud800é"'],
    [
      'keeps a key that is a name of the language',
      JSON.parse('{"b":1,"__proto__":{"a":2}}'),
      '{"__proto__":{"a":2},"b":1}',
    ],
  ])('%s: its bytes are signed and stored, and never change', (_, value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  it('is the same text for equal values, whatever the order of their keys, and JSON of them', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(canonicalJson(turned(value as Json))).toBe(canonicalJson(value));
        expect(JSON.stringify(JSON.parse(canonicalJson(value)))).toBe(canonicalJson(value));
      }),
    );
  });
});

/** The same value, its keys in the opposite order. */
const turned = (value: Json): Json => {
  if (Array.isArray(value)) return (value as readonly Json[]).map(turned);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, turned(member)]),
  );
};
