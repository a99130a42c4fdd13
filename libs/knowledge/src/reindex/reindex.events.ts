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
    'New passages are made of the documents of an Agent, a Space or the instance, beside those that are searched. Of what an earlier job kept nothing is left. `documents` are those that need it.',
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

export const reindexPaused = changed('ReindexPaused', 'A re-index was paused. It keeps what it made.');
export const reindexResumed = changed('ReindexResumed', 'A paused or failed re-index goes on.');
export const reindexCancelled = changed('ReindexCancelled', 'A re-index was cancelled, and drops what it made.');
export const reindexSwapped = changed(
  'ReindexSwapped',
  'The passages of a re-index are searched from now on, document by document. Those before them are kept until the next job.',
);
export const reindexRolledBack = changed(
  'ReindexRolledBack',
  'The passages from before a re-index are searched again. It can be swapped once more.',
);
export const reindexReady = defineEvent({
  type: 'ReindexReady',
  description:
    'A re-index is complete: each of its documents has passages that were read back and found whole. `documents` is how many.',
  data: z.strictObject({ jobId, documents: count }),
});
export const reindexFailed = defineEvent({
  type: 'ReindexFailed',
  description: 'A re-index cannot go on, for a reason. It keeps what it made and can be resumed.',
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
