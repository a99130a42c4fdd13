import { idOf, type RecordedEvent } from '@app/kernel';
import type { RowProjection } from '@app/projecting';
import { type RestatementEvent, restatementClosed, restatedPrices } from '@app/spending';
import { z } from 'zod';

/** A second ledger, with its sums once it is complete. Amounts are nano-units of `currency`. */
export const restatementRow = z.object({
  id: z.string(),
  from: z.string(),
  to: z.string(),
  prices: restatedPrices,
  currency: z.string(),
  actor: z.string(),
  startedAt: z.string(),
  closedAt: z.string().nullable(),
  /** Null until the ledger is complete. */
  sums: restatementClosed.data.nullable(),
});
export type RestatementRow = z.output<typeof restatementRow>;

/** Restatements. The entries of each ledger are only in the log. */
export const restatements: RowProjection = {
  kind: 'rows',
  name: 'restatements',
  version: 1,
  perStream: true,
  types: ['RestatementBegun', 'RestatementClosed'],
  row: restatementRow,
  indexes: [{ name: 'newest', fields: [{ field: 'startedAt', order: 'desc' }] }],
  apply: (recorded) => {
    const event = recorded as RecordedEvent<Exclude<RestatementEvent, { type: 'InvocationsRestated' }>>;
    const { stream, recordedAt, actor } = event.context;
    const key = idOf(stream);
    if (event.type === 'RestatementClosed')
      return [{ op: 'patch', key, fields: { closedAt: recordedAt, sums: event.data } }];
    const { restatementId: id, ...terms } = event.data;
    return [{ op: 'put', key, row: { id, ...terms, actor, startedAt: recordedAt, closedAt: null, sums: null } }];
  },
};
