import { chunkingSchema, defineEvent, nameSchema, sensitive, textSchema, type EventsOf } from '@app/kernel';
import { type claimForfeited, claimSchema } from '@app/reservations';
import { z } from 'zod';

export const spaceRole = z.enum(['viewer', 'editor', 'owner']);
/** What a member may do in a Space; each role includes those before it. */
export type SpaceRole = z.output<typeof spaceRole>;

export const slugSchema = z
  .string()
  .max(100)
  .regex(/^[a-z0-9-]+$/, 'must consist of lower-case letters, digits and hyphens');
export const colorSchema = z.string().regex(/^#[0-9A-Fa-f]{6}$/, 'must be a colour such as #3B82F6');
export const descriptionSchema = textSchema(2_000);

const userId = z.uuid();
const name = sensitive(nameSchema());
const slug = sensitive(slugSchema);
const description = sensitive(descriptionSchema);
/** Null or absent: the default of the product. */
const chunking = chunkingSchema.nullable().optional();

export const spaceCreated = defineEvent({
  type: 'SpaceCreated',
  description:
    'A Space was created; `ownerId` is its first member. A team Space holds claims, because its name and slug are unique.',
  data: z.strictObject({
    spaceId: z.uuid(),
    kind: z.enum(['team', 'personal']),
    ownerId: userId,
    name,
    slug,
    description,
    color: colorSchema,
    chunking,
    nameClaim: claimSchema.optional(),
    slugClaim: claimSchema.optional(),
  }),
});

export const spaceChanged = defineEvent({
  type: 'SpaceChanged',
  description:
    'Fields of a Space changed; absent ones did not. `released` lists the claims to its earlier name and slug.',
  data: z.strictObject({
    name: name.optional(),
    slug: slug.optional(),
    description: description.optional(),
    color: colorSchema.optional(),
    chunking,
    nameClaim: claimSchema.optional(),
    slugClaim: claimSchema.optional(),
    released: z.array(claimSchema),
  }),
});

/** The number of members from now on. */
const memberCount = z.number().int().nonnegative();

export const spaceMemberAdded = defineEvent({
  type: 'SpaceMemberAdded',
  description: 'A user became a member of a Space.',
  data: z.strictObject({ userId, role: spaceRole, memberCount }),
});

export const spaceMemberRoleChanged = defineEvent({
  type: 'SpaceMemberRoleChanged',
  description: 'The role of a member in a Space changed.',
  data: z.strictObject({ userId, role: spaceRole }),
});

export const spaceMemberRemoved = defineEvent({
  type: 'SpaceMemberRemoved',
  description: 'A user is no longer a member of a Space.',
  data: z.strictObject({ userId, memberCount }),
});

export const spaceDeleted = defineEvent({
  type: 'SpaceDeleted',
  description: 'A Space was deleted permanently, with everything in it.',
  data: z.strictObject({ released: z.array(claimSchema) }),
});

export const spaceEvents = [
  spaceCreated,
  spaceChanged,
  spaceMemberAdded,
  spaceMemberRoleChanged,
  spaceMemberRemoved,
  spaceDeleted,
] as const;
export type SpaceEvent = EventsOf<[...typeof spaceEvents, typeof claimForfeited]>;
