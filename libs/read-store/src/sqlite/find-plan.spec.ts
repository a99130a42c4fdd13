import Database from 'better-sqlite3';
import type { FindOptions, IndexSpec } from '../read-store';
import { countQuery, pageQueries } from './find-plan';
import { prepareFile } from './view-file';

const indexes: readonly IndexSpec[] = [
  { name: 'by-space', fields: [{ field: 'spaceId' }, { field: 'archived' }, { field: 'createdAt', order: 'desc' }] },
  { name: 'newest', fields: [{ field: 'createdAt', order: 'desc' }] },
  { name: 'slugs', fields: [{ field: 'slug' }], unique: true },
];
const db = new Database(':memory:');
prepareFile(db, { name: 'agents', version: 1, indexes });

/** How SQLite runs the queries of a page. */
const plans = (options: Omit<FindOptions, 'limit'>): readonly string[] =>
  pageQueries(indexes, { ...options, limit: 5 }).map(({ sql, parameters }) => (db.prepare(`explain query plan ${sql}`).all(...parameters, 5) as { detail: string }[]).map(({ detail }) => detail).join('; '));

const created = [{ field: 'createdAt', order: 'desc' }] as const;
const after = { values: ['2026-01-01'], key: 'k' };

describe('the queries of a page', () => {
  it.each<readonly [string, Omit<FindOptions, 'limit'>]>([
    ['equal fields, then an order', { where: { archived: false, spaceId: 's' }, orderBy: created }],
    ['the same, further on', { where: { spaceId: 's', archived: false }, orderBy: created, after }],
    ['the other way round', { where: { spaceId: 's', archived: true }, orderBy: [{ field: 'createdAt', order: 'asc' }], after }],
    ['an order alone', { orderBy: created, after }],
    ['a unique field', { where: { slug: 'x' } }],
    ['no field', {}],
    ['no field, further on', { after: { values: [], key: 'k' } }],
  ])('never read or sort more than the page: %s', (_, options) => {
    for (const plan of plans(options)) {
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
    expect(db.prepare(`explain query plan ${sql}`).all(...parameters)).toMatchObject([{ detail: expect.stringContaining('SEARCH rows USING COVERING INDEX by-space') }]);
  });

  it('refuse field names that are none', () => {
    expect(() => prepareFile(new Database(':memory:'), { name: 'x', version: 1, indexes: [{ name: 'i', fields: [{ field: "a'); drop table rows; --" }] }] })).toThrow('no field may be called');
  });
});
