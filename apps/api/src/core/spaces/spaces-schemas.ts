import { exposed, listQuery, presenter } from '@app/http';
import { chunkingSchema, nameSchema } from '@app/kernel';
import { colorSchema, descriptionSchema, promptTags, promptText, slugSchema, spaceRole } from '@app/spaces';
import { promptRow } from '@projections/prompts';
import type { Member } from '@projections/space-members';
import { spaceRow } from '@projections/spaces';
import { z } from 'zod';

const fields = {
  name: nameSchema().describe('Its name.'),
  slug: slugSchema.describe('Its name in addresses; made from the name by default.'),
  description: descriptionSchema.describe('What it is for.'),
  color: colorSchema.describe('Its colour, #RRGGBB.'),
  chunking: chunkingSchema
    .nullable()
    .describe('How its documents are cut into chunks from now on; null: as the product does by default.'),
};

export const newSpace = z.strictObject({
  ...fields,
  slug: fields.slug.optional(),
  description: fields.description.default(''),
  color: fields.color.default('#3B82F6'),
  chunking: fields.chunking.optional(),
});
export const spaceUpdate = z.strictObject(fields).partial();

const promptFields = {
  title: nameSchema().describe('Its title.'),
  text: promptText.describe('What it says.'),
  tags: promptTags.describe('Words to find it by.'),
};
export const newPrompt = z.strictObject({ ...promptFields, tags: promptFields.tags.default([]) });
export const promptUpdate = z.strictObject(promptFields).partial();

export const memberChange = z.strictObject({ role: spaceRole.describe('Their role in the Space.') });

export const plainList = listQuery({});

/** A Space; `role`, the caller's own, is added to each answer. */
export const spaceView = presenter(
  'Space',
  exposed(spaceRow, {
    id: true,
    name: 'Its name.',
    slug: 'Its name in addresses.',
    description: 'What it is for.',
    color: 'Its colour, #RRGGBB.',
    chunking: 'How its documents are cut into chunks; null: as the product does by default.',
    kind: "Whether it is a team's, or one user's own.",
    memberCount: 'How many members it has.',
    createdAt: true,
    updatedAt: true,
    revision: true,
  }).extend({ role: spaceRole.describe("The caller's role in it.") }),
);

export const promptView = presenter(
  'Prompt',
  exposed(promptRow, {
    id: true,
    title: 'Its title.',
    text: 'What it says.',
    tags: 'Words to find it by.',
    createdAt: true,
    updatedAt: true,
    revision: true,
  }),
);
export const memberView = presenter<Member>(
  'SpaceMember',
  z.object({
    userId: z.string().describe('The id of the user.'),
    name: z.string().nullable().describe('Their name.'),
    role: spaceRole.describe('Their role in the Space.'),
  }),
);
