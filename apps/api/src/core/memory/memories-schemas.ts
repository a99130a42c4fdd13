import { exposed, type JsonText, listQuery, presenter } from '@app/http';
import { textSchema } from '@app/kernel';
import { type MemoryCaller, memoryKind } from '@app/memory';
import { type MemoryRow, memoryRow } from '@projections/memories';
import { z } from 'zod';

const text = textSchema(300)
  .refine((given) => given.trim() !== '', { message: 'must not be empty' })
  .describe('The text to remember, 1 to 300 characters.');
const kind = memoryKind.describe('`personal`: only for you. `shared`: for everybody who uses the Agent.');
const status = z.enum(['proposed', 'saved']).describe('Saved, or proposed and waiting for you.');

export const newMemory = z.strictObject({
  text,
  kind: kind.default('personal'),
  replaces: z.uuid().optional().describe('The memory that it replaces. That memory is then deleted.'),
});
export const memoryUpdate = z.strictObject({ text: text.optional() });

const filters = { kind: kind.optional(), status: status.optional() };
export const memoriesQuery = listQuery({
  ...filters,
  q: z.string().trim().min(1).max(200).optional().describe('Words that the text must all contain.'),
});
export const clearedQuery = z.strictObject(filters);

/** A memory; `userId` is added to each answer: of a shared one only for who proposed it, and for editors. */
export const memoryView = presenter<MemoryRow>(
  'Memory',
  exposed(memoryRow, {
    id: true,
    agentId: 'The Agent it belongs to.',
    kind: '`personal`: only for its user. `shared`: for everybody who uses the Agent.',
    status: '`proposed`: only its user sees it, and has not confirmed it yet.',
    text: 'The text.',
    origin: 'Where it comes from: `user`, `agent`, or `content` that the Agent read.',
    source: 'The message it comes from; null if it was created directly, or belongs to somebody else.',
    replaces: 'The memory that a proposal replaces once it is confirmed; null for none.',
    screening: 'The screener version that found it safe.',
    expiresAt: 'When a proposal expires, ISO 8601 in UTC; null once it is saved.',
    createdAt: true,
    updatedAt: true,
    revision: true,
  }).extend({
    userId: z
      .string()
      .nullable()
      .describe('Its user, or who proposed it; null if it is shared and you cannot change it.'),
  }),
  undefined,
  // Whether its user is shown depends on the caller.
  ['userId'],
);

/** A memory as a caller sees it: who proposed a shared one is for themselves and for editors to know, in which of their conversations for themselves alone. */
export const presentMemory = (row: MemoryRow, { userId, access }: MemoryCaller): JsonText => {
  const isOwn = row.userId === userId;
  const mayKnow = isOwn || access === 'edit';
  return memoryView(isOwn ? row : { ...row, source: null }, { userId: mayKnow ? row.userId : null });
};
