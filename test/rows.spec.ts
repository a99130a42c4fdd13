import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projections } from '@app/hosting';
import type { RowProjection } from '@app/projecting';
import { Schema } from 'mongoose';
import { rowSchema } from '@app/read-store';

const rowProjections = projections.filter((projection): projection is RowProjection => projection.kind === 'rows');

describe('the row of each view', () => {
  it.each(rowProjections.map((projection) => [projection.name, projection] as const))(
    '%s is declared, each field with a type, and is indexed by scalars alone',
    (_, projection) => {
      const schema = rowSchema({ Schema }, projection);
      const declared = Object.keys(projection.row.shape);
      expect(declared.length).toBeGreaterThan(0);
      expect(Object.keys(schema.paths)).toEqual(expect.arrayContaining(declared));
      for (const { fields } of projection.indexes)
        for (const { field } of fields)
          expect([projection.name, field, schema.path(field)?.instance]).toEqual([
            projection.name,
            field,
            expect.stringMatching(/^(String|Number|Boolean)$/),
          ]);
    },
  );
});

describe('docs/mongodb.md', () => {
  const read = (file: string): string => readFileSync(join(__dirname, '..', 'docs', file), 'utf8');
  const { components } = JSON.parse(read('openapi.json')) as {
    components: { schemas: Record<string, { properties: object }> };
  };
  const section = /^## Rows and resources\n([^]*?)^## /m.exec(read('mongodb.md'))?.[1] ?? '';
  const namesIn = (text: string): readonly string[] => [...text.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name);
  const lines = [...section.matchAll(/^\| `([\w-]+)` \| `(\w+)` \| (.+) \|$/gm)].map(
    ([, view = '', resource = '', text = '']) => ({ view, resource, said: namesIn(text) }),
  );
  const unshown = namesIn(/^The API shows no rows of [^:]+/m.exec(section)?.[0] ?? '');

  /** The resource that has the name of a view in the singular: `ApiKey` for `api-keys`. */
  const resourceOf = (view: string): string =>
    view
      .replace(/s$/, '')
      .split('-')
      .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
      .join('');
  const others = rowProjections
    .map(({ name }) => name)
    .filter((name) => !unshown.includes(name) && lines.every(({ view }) => view !== name));
  const differing = (view: string, resource: string): readonly string[] => {
    const row = Object.keys(rowProjections.find(({ name }) => name === view)?.row.shape ?? {});
    const shown = Object.keys(components.schemas[resource]?.properties ?? {});
    expect([row, shown]).not.toContainEqual([]);
    return [...row.filter((name) => !shown.includes(name)), ...shown.filter((name) => !row.includes(name))];
  };

  it('names views of rows alone', () =>
    expect([...lines.map(({ view }) => view), ...unshown, ...others].toSorted()).toEqual(
      rowProjections.map(({ name }) => name).toSorted(),
    ));

  it.each(lines)('names each field in which $view differs from $resource', ({ view, resource, said }) =>
    expect(differing(view, resource).filter((name) => !said.includes(name))).toEqual([]),
  );

  it.each(others)('says nothing of %s, whose rows have the fields of its resource, and ids', (view) =>
    expect(differing(view, resourceOf(view)).filter((name) => !name.endsWith('Id'))).toEqual([]),
  );
});
