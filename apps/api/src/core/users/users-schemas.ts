import { instanceRole, language, mailSchema } from '@app/identity';
import { nameSchema } from '@app/kernel';
import { userRow } from '@projections/users';
import { z } from 'zod';
import { instant, listQuery, presenter } from '../../http';

const profile = { name: nameSchema(), language };

export const newUser = z.strictObject({
  ...profile,
  email: mailSchema,
  role: instanceRole,
  language: language.default('en'),
});

export const userChange = z
  .strictObject({ ...profile, email: mailSchema, role: instanceRole, usageWindowStart: instant })
  .partial();

/** What everyone may change of themselves. */
export const ownChange = z.strictObject(profile).partial();

export const usersQuery = listQuery({});

export const userView = presenter(userRow);
