import type { EventOf, RecordedEvent } from '@app/kernel';
import type { RowProjection } from '@app/projecting';
import type { IndexSpec } from '@app/read-store';
import { type invocationsRecorded, recordedInvocation } from '@app/spending';
import type { z } from 'zod';

/** A model call as billed, `cost` in nano-units. Its key is its id. It stays when what it names is deleted. */
export const invocationRow = recordedInvocation;
export type InvocationRow = z.output<typeof invocationRow>;

/** The fields that lists are filtered by, those that usually leave the fewest rows first. */
export const INVOCATION_FILTERS = ['apiKeyId', 'agentId', 'userId', 'spaceId'] as const;

/** Newest first of all that have a field's value. */
const newestBy = (field: string): IndexSpec => ({
  name: `newest-by-${field}`,
  fields: [{ field }, { field: 'at', order: 'desc' }],
});

/** One row for each model call. */
export const invocations: RowProjection = {
  kind: 'rows',
  name: 'invocations',
  version: 1,
  perStream: true,
  types: ['InvocationsRecorded'],
  row: invocationRow,
  indexes: [{ name: 'newest', fields: [{ field: 'at', order: 'desc' }] }, ...INVOCATION_FILTERS.map(newestBy)],
  apply: (recorded) =>
    (recorded as RecordedEvent<EventOf<typeof invocationsRecorded>>).data.invocations.map((row) => ({
      op: 'put',
      key: row.id,
      row,
    })),
};
