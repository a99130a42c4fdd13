import { exposed, listQuery, presenter } from '@app/http';
import { chunkingSchema, nameSchema } from '@app/kernel';
import { colorSchema, descriptionSchema, promptTags, promptText, slugSchema, spaceRole } from '@app/spaces';
import { promptRow } from '@projections/prompts';
import type { Member } from '@projections/space-members';
import { spaceRow } from '@projections/spaces';
import { z } from 'zod';

const fields = {
  name: nameSchema().describe('Its name.'),
  slug: slugSchema.describe('Its slug, for addresses. By default, made from the name.'),
  description: descriptionSchema.describe('What it is for.'),
  color: colorSchema.describe('Its colour, #RRGGBB.'),
  chunking: chunkingSchema.nullable().describe('How new content is split into chunks; null for the default.'),
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
  text: promptText.describe('Its text.'),
  tags: promptTags.describe('Words to search for.'),
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
    slug: 'Its slug, for addresses.',
    description: 'What it is for.',
    color: 'Its colour, #RRGGBB.',
    chunking: 'How documents are split into chunks; null for the default.',
    kind: 'A team Space, or the personal Space of a user.',
    memberCount: 'The number of members.',
    createdAt: true,
    updatedAt: true,
    revision: true,
  }).extend({ role: spaceRole.describe("The caller's role in the Space.") }),
);

export const promptView = presenter(
  'Prompt',
  exposed(promptRow, {
    id: true,
    title: 'Its title.',
    text: 'Its text.',
    tags: 'Words to search for.',
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
