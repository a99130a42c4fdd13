import type { RecordedEvent } from '@app/kernel';
import type { RowProjection } from '@app/projecting';
import { z } from 'zod';

/** The stream that an object lives in. Key: `<kind>/<id>`. */
export const auditObjectRow = z.strictObject({ stream: z.string() });
export type AuditObjectRow = z.output<typeof auditObjectRow>;

type Made =
  | { readonly type: 'TagCreated'; readonly data: { readonly tagId: string } }
  | { readonly type: 'UserMessageAdded' | 'AssistantMessageAdded'; readonly data: { readonly messageId: string } };

/**
 * Where auditors find objects that share a stream with others: tags stand in the stream of their Space's tags, messages in
 * that of their conversation. Rows outlive their objects, whose history stays readable.
 */
export const auditObjects: RowProjection = {
  kind: 'rows',
  name: 'audit-objects',
  version: 1,
  types: ['TagCreated', 'UserMessageAdded', 'AssistantMessageAdded'],
  row: auditObjectRow,
  indexes: [],
  apply: (recorded) => {
    const event = recorded as RecordedEvent<Made>;
    const key = event.type === 'TagCreated' ? `tag/${event.data.tagId}` : `message/${event.data.messageId}`;
    return [{ op: 'put', key, row: { stream: event.context.stream } }];
  },
};
