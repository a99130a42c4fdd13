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
