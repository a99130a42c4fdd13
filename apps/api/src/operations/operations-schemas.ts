import { z } from 'zod';

const verification = z.object({
  position: z.string().nullable().describe('The position at which both versions were compared.'),
  equal: z.boolean().describe('Whether they are equal.'),
  rows: z.number().int().describe('Rows of the new version.'),
  liveRows: z.number().int().describe('Rows of the version that is served.'),
  checksum: z.string().describe('Checksum of the new version.'),
  liveChecksum: z.string().describe('Checksum of the version that is served.'),
  differences: z.number().int().describe('How many rows differ.'),
  listed: z
    .array(
      z.object({
        key: z.string().describe('The key of the row.'),
        difference: z.enum(['missing', 'extra', 'changed']).describe('How it differs.'),
      }),
    )
    .describe('The first rows that differ.'),
});

const rebuild = z.object({
  version: z.number().int().describe('The version that is built.'),
  done: z.number().int().describe('Events that are done.'),
  total: z.number().int().describe('Events that there are.'),
  rate: z.number().describe('Events per second.'),
  etaSeconds: z.number().nullable().describe('Seconds until it is done; null where that is not known.'),
  state: z
    .enum(['building', 'paused', 'failed', 'verifying', 'ready', 'swapped', 'removing'])
    .describe('Where it stands.'),
  reason: z.enum(['asked', 'declaration', 'ahead-of-log', 'damaged']).describe('Why it was begun.'),
  failure: z
    .looseObject({
      reason: z.string().describe('What kind of failure it is.'),
      detail: z.string().describe('What failed.'),
    })
    .optional()
    .describe('Why it failed.'),
  verification: verification.optional().describe('How it compares with the version that is served.'),
});

/** A view as operators see it (`ProjectionStatus`). */
export const projectionSchema = z
  .object({
    name: z.string().describe('The name of the view.'),
    version: z.number().int().describe('The version that is served.'),
    state: z.enum(['live', 'catching-up', 'rebuilding', 'paused', 'stopped']).describe('Where it stands.'),
    position: z.string().nullable().describe('The position up to which it has read.'),
    head: z.string().nullable().describe('The end of the log.'),
    lagEvents: z.number().int().nullable().describe('Events that it is behind; null where that is not known.'),
    lagSeconds: z.number().describe('Seconds that it is behind.'),
    rows: z.number().int().describe('How many rows it has.'),
    deadLetters: z.number().int().describe('How many events it could not handle.'),
    rebuild: rebuild.optional().describe('The rebuild under way, or the last one that is kept.'),
  })
  .meta({ id: 'Projection' });

/** An event that could not be handled, without content (`DeadLetter`). */
export const deadLetterSchema = z
  .object({
    id: z.uuid().describe('The id of the dead letter.'),
    source: z.enum(['projection', 'policy']).describe('What could not handle the event.'),
    name: z.string().describe('The name of that view or policy.'),
    eventId: z.uuid().describe('The id of the event.'),
    type: z.string().describe('The type of the event.'),
    stream: z.string().describe('The stream that waits behind it.'),
    revision: z.number().int().describe('The place of the event in its stream.'),
    position: z.string().describe('The position of the event.'),
    reason: z
      .enum(['unknown_type', 'schema', 'newer_schema', 'apply', 'sink', 'order', 'reaction'])
      .describe('Why it failed.'),
    detail: z.string().describe('What failed, without content.'),
    attempts: z.number().int().describe('How often it was tried.'),
    failedAt: z.string().describe('A time, ISO 8601 in UTC.'),
  })
  .meta({ id: 'DeadLetter' });

/** What solving a dead letter left behind: the letter that stands now, null when its stream flows again. */
export const solvedSchema = z
  .object({
    left: deadLetterSchema.nullable().describe('The dead letter that stands now; null where the stream flows again.'),
  })
  .meta({ id: 'SolvedDeadLetter' });
