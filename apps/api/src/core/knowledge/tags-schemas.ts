import { exposed, listQuery, presenter } from '@app/http';
import { nameSchema } from '@app/kernel';
import { tagRow } from '@projections/tags';
import { z } from 'zod';

const color = z.string().regex(/^#[0-9a-fA-F]{6}$/, 'must be #RRGGBB');

export const newTag = z.strictObject({
  name: nameSchema(100).describe('Its name.'),
  color: color.default('#808080').describe('Its colour, #RRGGBB.'),
});
export const tagUpdate = z
  .strictObject({ name: nameSchema(100).describe('Its name.'), color: color.describe('Its colour, #RRGGBB.') })
  .partial();
export const tagsQuery = listQuery({});
export const tagView = presenter(
  'Tag',
  exposed(tagRow, {
    id: true,
    name: 'Its name.',
    color: 'Its colour, #RRGGBB.',
    documentCount: 'The number of documents with this tag.',
  }),
);
