import { nameSchema } from '@app/kernel';
import { tagRow } from '@projections/tags';
import { z } from 'zod';
import { listQuery, presenter } from '../../http';

const color = z.string().regex(/^#[0-9a-fA-F]{6}$/, 'must be #RRGGBB');

export const newTag = z.strictObject({ name: nameSchema(100), color: color.default('#808080') });
export const tagChange = z.strictObject({ name: nameSchema(100), color }).partial();
export const tagsQuery = listQuery({});
export const tagView = presenter(tagRow.pick({ id: true, name: true, color: true, documentCount: true }));
