import { exposed, instant, listQuery, presenter } from '@app/http';
import { instanceRole, language, mailSchema } from '@app/identity';
import { nameSchema } from '@app/kernel';
import { userRow } from '@projections/users';
import { z } from 'zod';

const profile = {
  name: nameSchema().describe('Their name.'),
  language: language.describe('Their language.'),
};

export const newUser = z.strictObject({
  ...profile,
  email: mailSchema.describe('Their email address.'),
  role: instanceRole.describe('Their role on the instance.'),
  language: profile.language.default('en'),
});

export const userUpdate = z
  .strictObject({
    ...profile,
    email: mailSchema.describe('Their email address.'),
    role: instanceRole.describe('Their role on the instance.'),
    usageWindowStart: instant.describe('When their usage weeks start, ISO 8601 with an offset.'),
  })
  .partial();

/** What everyone may change of themselves. */
export const ownUpdate = z.strictObject(profile).partial();

export const usersQuery = listQuery({});

export const userView = presenter(
  'User',
  exposed(userRow, {
    id: true,
    email: 'Their email address.',
    name: 'Their name.',
    role: 'Their role on the instance.',
    language: 'Their language.',
    status: 'Whether the user is active or suspended.',
    usageWindowStart: 'When their usage weeks start, ISO 8601 in UTC.',
    createdAt: true,
    revision: true,
  }),
);
