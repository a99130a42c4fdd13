import type { Json } from '@app/kernel';
import * as fc from 'fast-check';
import { mongo } from 'mongoose';
import { anyCharacter } from '../../../../test/fixtures/any-character';
import type { Row } from '../read-store';
import type { RowDocument } from './documents';
import { documentOf, type RowShape, rowOf } from './row-codec';

const { deserialize, serialize } = mongo.BSON;
const PLAIN: RowShape = { indexed: new Set(), freeForm: undefined };
const AT = { position: '7', commit: 'c' };

const documentFor = (row: Row, shape = PLAIN): Readonly<Record<string, unknown>> => ({
  ...documentOf(shape, 'k', row, AT),
});
/** The row once its document was sent to the server and came back. */
const sentAndRead = (row: Row, shape = PLAIN): Row =>
  rowOf(deserialize(serialize(documentOf(shape, 'k', row, AT))) as RowDocument);

describe('the document of a row', () => {
  it('has the fields of the row, as the API shows them', () => {
    const row = {
      id: 'k',
      createdAt: '2026-11-23T07:00:00.000Z',
      tools: [{ name: 'search', enabled: true }],
      model: null,
    };
    expect(documentFor(row)).toEqual({
      _id: 'k',
      ...row,
      _meta: { position: '7', commit: 'c', size: JSON.stringify(row).length },
    });
  });

  it('holds whole numbers of 32 bits as int and all others as double', () => {
    const numbers = { int: 2_147_483_647, beyond: 2_147_483_648, half: 0.5, zero: -0 };
    const typed = deserialize(serialize(documentOf(PLAIN, 'k', numbers, AT)), { promoteValues: false });
    const typeOf = (name: string): string => (typed[name] as { readonly _bsontype: string })._bsontype;
    expect(['int', 'beyond', 'half', 'zero'].map(typeOf)).toEqual(['Int32', 'Double', 'Double', 'Int32']);
  });

  it('escapes names that mean something to MongoDB or its driver, at any depth', () => {
    const row = JSON.parse(
      '{"$set":1,"a.b":{"$ref":"x","_bsontype":"Long"},"_id":2,"_meta":3,"":4,"50%":5,"a$":6}',
    ) as Row;
    expect(Object.keys(documentFor(row))).toEqual([
      '_id',
      '%24set',
      'a%2Eb',
      '%5Fid',
      '%5Fmeta',
      '%',
      '50%25',
      'a$',
      '_meta',
    ]);
    expect(documentFor(row)['a%2Eb']).toEqual({ '%24ref': 'x', '%5Fbsontype': 'Long' });
  });

  it('holds free-form JSON as text, but null and erased content as they are', () => {
    const shape: RowShape = {
      indexed: new Set(),
      freeForm: { fields: { tools: { items: { fields: { parameters: true } } }, any: true } },
    };
    const parameters = { type: 'object', $defs: {} };
    const row: Row = {
      tools: [
        { name: 'a', parameters },
        { name: 'b', parameters: null },
      ],
      any: { erased: true },
    };
    expect(documentFor(row, shape)).toMatchObject({
      tools: [
        { name: 'a', parameters: { json: JSON.stringify(parameters) } },
        { name: 'b', parameters: null },
      ],
      any: { erased: true },
    });
    expect(sentAndRead(row, shape)).toEqual(row);
  });

  it('holds lists and objects of indexed fields as text: an index takes lists apart', () => {
    const shape: RowShape = { indexed: new Set(['tags', 'open']), freeForm: undefined };
    expect(documentFor({ tags: ['a'], open: true, other: ['a'] }, shape)).toMatchObject({
      tags: { json: '["a"]' },
      open: true,
      other: ['a'],
    });
  });

  it('comes back as the row that JSON makes of it, whatever it holds and whatever is free-form', () => {
    const name = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.constantFrom('$a', 'a.b', '_id', '__proto__', 'json', 'x', '%'),
    );
    const { value } = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.string({ unit: anyCharacter }),
        fc.double(),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(name, tie('value'), { maxKeys: 3 }) as fc.Arbitrary<Json>,
      ),
    }));
    const shape = fc.constantFrom<RowShape>(
      PLAIN,
      { indexed: new Set(['x', 'a.b']), freeForm: undefined },
      { indexed: new Set(), freeForm: { fields: { x: true, json: { items: true } } } },
    );
    fc.assert(
      fc.property(fc.dictionary(name, value), shape, (row, form) => {
        expect(JSON.stringify(sentAndRead(row as Row, form))).toBe(JSON.stringify(JSON.parse(JSON.stringify(row))));
      }),
      { numRuns: 500 },
    );
  });
});
