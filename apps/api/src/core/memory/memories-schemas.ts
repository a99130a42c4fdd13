import { exposed, type JsonText, listQuery, presenter } from '@app/http';
import { textSchema } from '@app/kernel';
import { type MemoryCaller, memoryKind } from '@app/memory';
import { type MemoryRow, memoryRow } from '@projections/memories';
import { z } from 'zod';

const text = textSchema(300)
  .refine((given) => given.trim() !== '', { message: 'must not be empty' })
  .describe('What is remembered, 1 to 300 characters.');
const kind = memoryKind.describe('`personal`: yours alone. `shared`: for everybody who uses the Agent.');
const status = z.enum(['proposed', 'saved']).describe('Whether it is saved, or waits until you choose.');

export const newMemory = z.strictObject({
  text,
  kind: kind.default('personal'),
  replaces: z.uuid().optional().describe('The memory that it takes the place of, and that is deleted then.'),
});
export const memoryUpdate = z.strictObject({ text });

const filters = { kind: kind.optional(), status: status.optional() };
export const memoriesQuery = listQuery({
  ...filters,
  q: z.string().trim().min(1).max(200).optional().describe('Words that all stand in the text.'),
});
export const clearedQuery = z.strictObject(filters);

/** A memory; `userId` is added to each answer: of a shared one only for who proposed it, and for editors. */
export const memoryView = presenter<MemoryRow>(
  'Memory',
  exposed(memoryRow, {
    id: true,
    agentId: 'The Agent that remembers it.',
    kind: "`personal`: its user's alone. `shared`: for everybody who uses the Agent.",
    status: '`proposed`: its user sees it alone, and has not chosen yet.',
    text: 'What is remembered.',
    origin: 'Who said it: `user`, `agent`, or `content` that was read.',
    source: 'The message in which it came up; null where it was given by itself, and in those of others.',
    replaces: 'The memory that a proposal takes the place of, which is deleted once it is confirmed; null for none.',
    screening: 'The version of the screener that found it safe.',
    expiresAt: 'When a proposal lapses, ISO 8601 in UTC; null once it is saved.',
    createdAt: true,
    updatedAt: true,
    revision: true,
  }).extend({
    userId: z
      .string()
      .nullable()
      .describe('Whose it is, or who proposed it; null where it is shared and you may not change it.'),
  }),
  // Whether its user is shown depends on the caller.
  (row) => ({ ...row, userId: undefined }),
);

/** A memory as a caller sees it: who proposed a shared one is for themselves and for editors to know, in which of their conversations for themselves alone. */
export const presentMemory = (row: MemoryRow, { userId, access }: MemoryCaller): JsonText => {
  const isOwn = row.userId === userId;
  const mayKnow = isOwn || access === 'edit';
  return memoryView(isOwn ? row : { ...row, source: null }, { userId: mayKnow ? row.userId : null });
};
