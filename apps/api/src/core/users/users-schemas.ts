import { exposed, instant, listQuery, presenter } from '@app/http';
import { instanceRole, language, mailSchema } from '@app/identity';
import { nameSchema } from '@app/kernel';
import { userRow } from '@projections/users';
import { z } from 'zod';

const profile = {
  name: nameSchema().describe('Their name.'),
  language: language.describe('The language that they are addressed in.'),
};

export const newUser = z.strictObject({
  ...profile,
  email: mailSchema.describe('Their mail address.'),
  role: instanceRole.describe('Their role on the instance.'),
  language: profile.language.default('en'),
});

export const userUpdate = z
  .strictObject({
    ...profile,
    email: mailSchema.describe('Their mail address.'),
    role: instanceRole.describe('Their role on the instance.'),
    usageWindowStart: instant.describe('When their weeks of usage begin, ISO 8601 with an offset.'),
  })
  .partial();

/** What everyone may change of themselves. */
export const ownUpdate = z.strictObject(profile).partial();

export const usersQuery = listQuery({});

export const userView = presenter(
  'User',
  exposed(userRow, {
    id: true,
    email: 'Their mail address.',
    name: 'Their name.',
    role: 'Their role on the instance.',
    language: 'The language that they are addressed in.',
    status: 'Whether their credentials are taken.',
    usageWindowStart: 'When their weeks of usage begin, ISO 8601 in UTC.',
    createdAt: true,
    revision: true,
  }),
);
