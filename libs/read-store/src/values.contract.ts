import * as fc from 'fast-check';
import type { Json } from '@app/kernel';
import type { Row } from '.';
import { change, put, type TestView } from './test-view.contract';

/** What comes back of a row is what JSON makes of it, to the byte: the order of its keys too. */
export const valuesContract = (view: () => TestView): void => {
  describe('values', () => {
    const stored = async (row: unknown): Promise<{ readonly text: string; readonly size: number | undefined }> => {
      const at = (await view().store.checkpoint(view().name, 1))?.handled ?? 0;
      await view().commit([change(at + 1, put('a', row as Row))], {
        to: { position: String(at + 1).padStart(6, '0'), handled: at + 1 },
      });
      const [scanned] = await view().everything();
      const found = await view().store.get(view().name, 'a');
      expect(scanned).toEqual(found);
      return { text: JSON.stringify(found?.row), size: found?.size };
    };
    const comesBack = async (row: unknown): Promise<void> => {
      const text = JSON.stringify(row);
      const expected = JSON.stringify(JSON.parse(text));
      expect(await stored(row)).toEqual({ text: expected, size: text.length });
    };

    it.each([
      ['keys out of order, and keys that are numbers', '{"z":1,"a":2,"10":3,"2":4,"m":{"y":1,"b":2,"1":3}}'],
      ['null, absent and empty', '{"none":null,"list":[],"object":{},"text":"","holes":[null,{"x":null}]}'],
      ['whole numbers', '[0,1,-1,2147483647,2147483648,-2147483649,9007199254740991,9007199254740993,1e21]'],
      ['other numbers', '[0.1,-0,1.0,5e-324,1.7976931348623157e308,0.30000000000000004,1e-7]'],
      [
        'times',
        '{"at":"2026-11-23T07:00:00.000Z","day":"2026-11-23","micro":"2026-11-23T07:00:00.123456Z","old":"0000"}',
      ],
      [
        'dots and dollars in names',
        '{"a.b":1,"$set":{"$inc":{"a":1}},".":2,"$":3,"a$b":4,"n":{"x.y":{"$ref":"#/a","$id":1}}}',
      ],
      ['escapes in names', '{"%":1,"%24":2,"%2E":3,"%u0041":4,"100%":5,"":6,"n":{"":{"%":7}}}'],
      [
        'names with a meaning',
        '{"_id":1,"_meta":{"commit":2},"_bsontype":"ObjectId","__proto__":{"x":1},"constructor":3,"toString":4,"n":{"_bsontype":"Long","low":1,"__proto__":5,"_id":6}}',
      ],
      [
        'names that every object has',
        '{"toString":[{}],"n":{"constructor":[{"a":1}],"valueOf":[[{}]]},"__defineGetter__":[{}]}',
      ],
      [
        'what looks like text in place of JSON',
        '{"json":"{}","n":{"json":"[1]"},"m":{"json":"x","y":1},"l":[{"json":"null"}]}',
      ],
      [
        'characters',
        '{"zero":"a\\u0000b","lone":"\\ud800","n":{"tail":["\\udc00x"],"half\\ud800":1,"zero\\u0000":2},"pair":"\\ud83d\\ude00","nfd":"e\\u0301","nfc":"\\u00e9"}',
      ],
      ['lists of lists', '{"l":[[],[[1,"a",{"b":[{}]}]],null,true]}'],
      ['erased content', '{"title":{"erased":true},"parts":[{"text":{"erased":true}}]}'],
    ])('come back: %s', async (_, text) => {
      const value = JSON.parse(text) as Json;
      await comesBack(Array.isArray(value) ? { value } : value);
      await comesBack({ value });
    });

    it('come back from any depth', async () => {
      let deep: Json = 'the ground';
      for (let level = 0; level < 250; level += 1) deep = level % 2 === 0 ? [deep] : { a: deep, b: level };
      await comesBack({ deep });
    });

    it('come back whatever they are', async () => {
      const name = fc.oneof(fc.string(), fc.constantFrom('$a', 'a.b', '_id', '_meta', 'json', 'name', 'rank'));
      const row = fc.dictionary(name, fc.jsonValue({ maxDepth: 4 }), { maxKeys: 6 });
      await fc.assert(fc.asyncProperty(row, comesBack), { numRuns: 60 });
    });

    it('come back after a patch, and stay what a patch does not name', async () => {
      await stored({ z: { 'a.b': 1, $c: [1] }, a: { json: '1' }, n: 1 });
      await view().commit([
        change(
          90,
          { op: 'patch', key: 'a', fields: { a: { $x: null }, m: [] } },
          { op: 'increment', key: 'a', field: 'n', by: 0.5 },
        ),
      ]);
      expect(JSON.stringify(await view().row('a'))).toBe('{"z":{"a.b":1,"$c":[1]},"a":{"$x":null},"n":1.5,"m":[]}');
    });

    it('are found by what they are, and never by an item or a field of theirs', async () => {
      await view().commit([
        change(
          1,
          put('flag', { spaceId: 's', archived: true, slug: true }),
          put('text', { spaceId: 's', archived: 'true', slug: 'true' }),
          put('list', { spaceId: ['s', 't'], archived: [true], slug: ['x', 'y'] }),
          put('object', { spaceId: { s: 's' }, archived: null, slug: { x: 1 } }),
          put('other', { spaceId: 'x', archived: false, slug: ['y', 'x'] }),
        ),
      ]);
      const found = async (where: Parameters<TestView['store']['count']>[1]): Promise<readonly string[]> => {
        const rows = await view().store.find(view().name, { ...(where && { where }), limit: 10 });
        expect(await view().store.count(view().name, where)).toBe(rows.length);
        return rows.map(({ key }) => key);
      };
      expect([
        await found({ spaceId: 's' }),
        await found({ spaceId: 's', archived: true }),
        await found({ spaceId: 's', archived: 'true' }),
        await found({ spaceId: { in: ['s', 'x'] } }),
        await found({ spaceId: { in: ['t'] } }),
        await found({ spaceId: 'x', archived: false }),
      ]).toEqual([['flag', 'text'], ['flag'], ['text'], ['flag', 'other', 'text'], [], ['other']]);
      await view().commit([
        change(2, { op: 'patchWhere', where: { spaceId: 's', archived: true }, fields: { seen: { 'a.b': 1 } } }),
        change(3, { op: 'removeWhere', where: { spaceId: 's', archived: 'true' } }),
      ]);
      expect((await view().everything()).map(({ key, row }) => [key, row['seen']])).toEqual([
        ['flag', { 'a.b': 1 }],
        ['list', undefined],
        ['object', undefined],
        ['other', undefined],
      ]);
    });

    it.each([[true], ['x'], [7], [['a', 'b']], [{ 'a.b': 1 }]] as const)(
      'of a unique index stand once: %j',
      async (slug) => {
        await view().commit([change(1, put('a', { slug }))]);
        await expect(view().commit([change(2, put('b', { slug }))])).rejects.toMatchObject({
          name: 'UniqueViolation',
          key: 'b',
        });
        await view().commit([change(2, put('a', { slug: null }), put('b', { slug }))]);
        expect(await view().row('b')).toEqual({ slug });
      },
    );

    it('of two booleans are paged in order', async () => {
      const rows = Array.from({ length: 9 }, (_, n) =>
        put(`k${n}`, { spaceId: 's', archived: n % 3 === 2 ? null : n % 3 === 1 }),
      );
      await view().commit([change(1, ...rows)]);
      const keys: string[] = [];
      for (let last: readonly [Json, string] | undefined; ;) {
        const [row] = await view().store.find(view().name, {
          where: { spaceId: 's' },
          orderBy: [{ field: 'archived', order: 'asc' }],
          ...(last && { after: { values: [last[0]], key: last[1] } }),
          limit: 1,
        });
        if (row === undefined) break;
        keys.push(row.key);
        last = [row.row['archived'] ?? null, row.key];
      }
      expect(keys).toEqual(['k2', 'k5', 'k8', 'k0', 'k3', 'k6', 'k1', 'k4', 'k7']);
    });
  });
};
