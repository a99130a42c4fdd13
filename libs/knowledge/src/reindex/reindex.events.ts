import { defineEvent, type EventsOf } from '@app/kernel';
import { z } from 'zod';

/** Whose documents a job re-indexes: an Agent's own, a Space's own, or all of the instance. */
export const reindexScope = z.enum(['agent', 'space', 'instance']);
export type ReindexScope = z.output<typeof reindexScope>;

/** What a job will take, told in advance. `cost` is a decimal amount in the currency of the instance. */
export const reindexEstimate = z.strictObject({
  calls: z.number().int().nonnegative(),
  tokens: z.number().int().nonnegative(),
  cost: z.string(),
});
export type ReindexEstimate = z.output<typeof reindexEstimate>;

const jobId = z.uuid();
const count = z.number().int().nonnegative();

export const reindexStarted = defineEvent({
  type: 'ReindexStarted',
  description:
    'A re-index began: it makes new passages of the documents of an Agent, a Space or the instance, beside those that are searched. The standby passages of an earlier job are gone. `documents` is the number of documents that need it.',
  data: z.strictObject({
    jobId,
    scope: reindexScope,
    spaceId: z.uuid().nullable(),
    agentId: z.uuid().nullable(),
    embeddingModel: z.string(),
    documents: count,
    estimate: reindexEstimate,
  }),
});

const changed = <const Type extends string>(type: Type, description: string) =>
  defineEvent({ type, description, data: z.strictObject({ jobId }) });

export const reindexPaused = changed('ReindexPaused', 'A re-index was paused. It keeps its passages.');
export const reindexResumed = changed('ReindexResumed', 'A paused or failed re-index goes on.');
export const reindexCancelled = changed('ReindexCancelled', 'A re-index was cancelled. Its passages are dropped.');
export const reindexSwapped = changed(
  'ReindexSwapped',
  'Searches use the passages of a re-index from now on, document by document. The earlier ones are kept until the next job.',
);
export const reindexRolledBack = changed(
  'ReindexRolledBack',
  'Searches use the passages from before a re-index again. The re-index can be swapped in once more.',
);
export const reindexReady = defineEvent({
  type: 'ReindexReady',
  description:
    'A re-index is complete and can be swapped in. The new passages of all its documents were read back and are whole. `documents` is the number of documents.',
  data: z.strictObject({ jobId, documents: count }),
});
export const reindexFailed = defineEvent({
  type: 'ReindexFailed',
  description: 'A re-index failed; `code` says why. It keeps its passages and can be resumed.',
  data: z.strictObject({ jobId, code: z.string() }),
});

export const reindexEvents = [
  reindexStarted,
  reindexPaused,
  reindexResumed,
  reindexCancelled,
  reindexReady,
  reindexFailed,
  reindexSwapped,
  reindexRolledBack,
] as const;
export type ReindexEvent = EventsOf<typeof reindexEvents>;
