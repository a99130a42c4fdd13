import { categoryOf } from '@app/kernel';
import type { RowProjection } from '@app/projecting';
import type { IndexSpec } from '@app/read-store';
import { z } from 'zod';

/** The place of an event and the fields that auditors filter by, without content. Its key is the position. */
export const auditTrailRow = z.strictObject({
  id: z.string(),
  stream: z.string(),
  revision: z.number(),
  category: z.string(),
  type: z.string(),
  actor: z.string(),
  correlationId: z.string(),
  recordedAt: z.string(),
});

/** The fields an auditor can filter by. */
const AUDIT_FILTERS = ['correlationId', 'stream', 'actor', 'type', 'category'];

/** Rows with equal values are ordered by key, which is the order of the log. */
const by = (field: string): IndexSpec => ({ name: `by-${field}`, fields: [{ field }] });

/** The index of the audit log, one row an event. `types` are all that the program knows. */
export const auditTrail = (types: readonly string[]): RowProjection => ({
  kind: 'rows',
  name: 'audit-trail',
  version: 1,
  perStream: true,
  types,
  contextOnly: true,
  row: auditTrailRow,
  indexes: ['id', ...AUDIT_FILTERS, 'recordedAt'].map(by),
  apply: ({ type, context }) => [
    {
      op: 'put',
      key: context.position,
      row: {
        id: context.id,
        stream: context.stream,
        revision: context.revision,
        category: categoryOf(context.stream),
        type,
        actor: context.actor,
        correlationId: context.correlationId,
        recordedAt: context.recordedAt,
      },
    },
  ],
});
