import Database from 'better-sqlite3';
import type { FindOptions, IndexSpec } from '../read-store';
import { countQuery, pageQueries } from './find-plan';
import { fieldSql } from './index-sql';
import { prepareFile } from './view-file';

const indexes: readonly IndexSpec[] = [
  { name: 'by-space', fields: [{ field: 'spaceId' }, { field: 'archived' }, { field: 'createdAt', order: 'desc' }] },
  { name: 'newest', fields: [{ field: 'createdAt', order: 'desc' }] },
  { name: 'ranked', fields: [{ field: 'rank' }, { field: 'createdAt', order: 'desc' }] },
  { name: 'slugs', fields: [{ field: 'slug' }], unique: true },
];
const db = new Database(':memory:');
prepareFile(db, { name: 'agents', version: 1, indexes });

/** As earlier versions made it: every index in the order that is declared. */
const former = new Database(':memory:');
prepareFile(former, { name: 'agents', version: 1, indexes: [] });
for (const { name, fields, unique } of indexes) {
  const columns = fields.map(({ field, order = 'asc' }) => `${fieldSql(field)} ${order}`);
  former.exec(
    `create ${unique ? 'unique ' : ''}index "${name}" on rows(${[...columns, ...(unique ? [] : [`key ${fields.at(-1)?.order ?? 'asc'}`])].join(', ')})`,
  );
}

/** How SQLite runs the queries of a page. */
const plans = (options: Omit<FindOptions, 'limit'>, file = db): readonly string[] =>
  pageQueries(indexes, { ...options, limit: 5 }).map(({ sql, parameters }) =>
    (file.prepare(`explain query plan ${sql}`).all(...parameters, 5) as { detail: string }[])
      .map(({ detail }) => detail)
      .join('; '),
  );

const created = [{ field: 'createdAt', order: 'desc' }] as const;
const after = { values: ['2026-01-01'], key: 'k' };

describe('the queries of a page', () => {
  it.each<readonly [string, Omit<FindOptions, 'limit'>]>([
    ['equal fields, then an order', { where: { archived: false, spaceId: 's' }, orderBy: created }],
    ['the same, further on', { where: { spaceId: 's', archived: false }, orderBy: created, after }],
    [
      'the other way round',
      { where: { spaceId: 's', archived: true }, orderBy: [{ field: 'createdAt', order: 'asc' }], after },
    ],
    ['an order alone', { orderBy: created, after }],
    ['orders that differ', { orderBy: [{ field: 'rank', order: 'asc' }, ...created] }],
    [
      'orders that differ, the other way round',
      {
        orderBy: [
          { field: 'rank', order: 'desc' },
          { field: 'createdAt', order: 'asc' },
        ],
        after: { values: [1, '2026-01-01'], key: 'k' },
      },
    ],
    ['a unique field', { where: { slug: 'x' } }],
    ['no field', {}],
    ['no field, further on', { after: { values: [], key: 'k' } }],
  ])('never read or sort more than the page: %s', (_, options) => {
    for (const plan of [...plans(options), ...plans(options, former)]) {
      expect(plan).not.toContain('TEMP B-TREE');
      if (options.where !== undefined) expect(plan).toMatch(/^SEARCH rows USING (COVERING )?INDEX/);
    }
  });

  it('seek to the place of the last row instead of skipping up to it', () => {
    const [ties, later, missing] = plans({ where: { spaceId: 's', archived: false }, orderBy: created, after });
    expect(ties).toContain('<expr>=? AND <expr>=? AND <expr>=? AND key<?');
    expect(later).toContain('<expr>=? AND <expr>=? AND <expr><?');
    expect(missing).toContain('<expr>=? AND <expr>=? AND <expr>=?');
  });

  it('count over an index', () => {
    const { sql, parameters } = countQuery(indexes, { spaceId: 's', archived: false });
    expect(db.prepare(`explain query plan ${sql}`).all(...parameters)).toMatchObject([
      { detail: expect.stringContaining('SEARCH rows USING COVERING INDEX by-space') },
    ]);
  });

  it('reject field names that are none', () => {
    expect(() =>
      prepareFile(new Database(':memory:'), {
        name: 'x',
        version: 1,
        indexes: [{ name: 'i', fields: [{ field: "a'); drop table rows; --" }] }],
      }),
    ).toThrow('no field may be called');
  });
});
