import { presenter } from '@app/http';
import type { DeadLetter } from '@app/projecting';
import { z } from 'zod';

const verification = z.object({
  position: z.string().nullable().describe('The position at which the versions were compared.'),
  equal: z.boolean().describe('Whether they are equal.'),
  rows: z.number().int().describe('Rows of the new version.'),
  liveRows: z.number().int().describe('Rows of the version that is served.'),
  checksum: z.string().describe('Checksum of the new version.'),
  liveChecksum: z.string().describe('Checksum of the version that is served.'),
  differences: z.number().int().describe('The number of rows that differ.'),
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
  done: z.number().int().describe('Events handled so far.'),
  total: z.number().int().describe('Events in total.'),
  rate: z.number().describe('Events per second.'),
  etaSeconds: z.number().nullable().describe('Estimated seconds left; null if not known.'),
  state: z.enum(['building', 'paused', 'failed', 'verifying', 'ready', 'swapped', 'removing']).describe('Its state.'),
  reason: z.enum(['asked', 'declaration', 'ahead-of-log', 'damaged']).describe('Why it was started.'),
  failure: z
    .looseObject({
      reason: z.string().describe('The kind of failure.'),
      detail: z.string().describe('What failed.'),
    })
    .optional()
    .describe('Why it failed.'),
  verification: verification.optional().describe('The comparison with the version that is served.'),
});

/** A view as operators see it (`ProjectionStatus`). */
export const projectionSchema = z
  .object({
    name: z.string().describe('The name of the view.'),
    version: z.number().int().describe('The version that is served.'),
    state: z.enum(['live', 'catching-up', 'rebuilding', 'paused', 'stopped']).describe('Its state.'),
    position: z.string().nullable().describe('The position that it has reached.'),
    head: z.string().nullable().describe('The end of the log.'),
    lagEvents: z.number().int().nullable().describe('How many events it is behind; null if not known.'),
    lagSeconds: z.number().describe('How many seconds it is behind.'),
    rows: z.number().int().describe('The number of rows.'),
    deadLetters: z.number().int().describe('The number of events that it could not handle.'),
    rebuild: rebuild.optional().describe('The running rebuild, or the last one kept.'),
  })
  .meta({ id: 'Projection' });

/** An event that could not be handled, without content (`DeadLetter`). */
export const deadLetterView = presenter<DeadLetter>(
  'DeadLetter',
  z.object({
    id: z.uuid().describe('The id of the dead letter.'),
    source: z.enum(['projection', 'policy']).describe('What failed to handle the event.'),
    name: z.string().describe('The name of that view or policy.'),
    eventId: z.uuid().describe('The id of the event.'),
    type: z.string().describe('The type of the event.'),
    stream: z.string().describe('The stream whose later events wait.'),
    revision: z.number().int().describe('The revision of the event in its stream.'),
    position: z.string().describe('The position of the event.'),
    reason: z
      .enum(['unknown_type', 'schema', 'newer_schema', 'apply', 'sink', 'order', 'reaction'])
      .describe('Why it failed.'),
    detail: z.string().describe('What failed, without content.'),
    attempts: z.number().int().describe('The number of attempts.'),
    failedAt: z.string().describe('A time, ISO 8601 in UTC.'),
  }),
);

/** What solving a dead letter left behind: the letter that stands now, null when its stream flows again. */
export const solvedSchema = z
  .object({
    left: deadLetterView.schema.nullable().describe('The dead letter that remains; null if the stream continues.'),
  })
  .meta({ id: 'SolvedDeadLetter' });
