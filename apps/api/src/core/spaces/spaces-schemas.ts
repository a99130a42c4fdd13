import { nameSchema } from '@app/kernel';
import { colorSchema, descriptionSchema, promptTags, promptText, slugSchema, spaceRole } from '@app/spaces';
import { promptRow } from '@projections/prompts';
import type { Member } from '@projections/space-members';
import { spaceRow } from '@projections/spaces';
import { z } from 'zod';
import { listQuery, presenter } from '../../http';

const fields = { name: nameSchema(), slug: slugSchema, description: descriptionSchema, color: colorSchema };

export const newSpace = z.strictObject({
  ...fields,
  slug: slugSchema.optional(),
  description: descriptionSchema.default(''),
  color: colorSchema.default('#3B82F6'),
});
export const spaceChange = z.strictObject(fields).partial();

const promptFields = { title: nameSchema(), text: promptText, tags: promptTags };
export const newPrompt = z.strictObject({ ...promptFields, tags: promptTags.default([]) });
export const promptChange = z.strictObject(promptFields).partial();

export const memberChange = z.strictObject({ role: spaceRole });

export const plainList = listQuery({});

/** A Space as stored; `role`, the caller's own, is added to each answer. */
export const spaceView = presenter(spaceRow);
export const spaceAnswer = spaceRow.extend({ role: spaceRole });

export const promptView = presenter(
  promptRow.pick({ id: true, title: true, text: true, tags: true, createdAt: true, updatedAt: true, revision: true }),
);
export const memberView = presenter<Member>(
  z.object({ userId: z.string(), name: z.string().nullable(), role: spaceRole }),
);
