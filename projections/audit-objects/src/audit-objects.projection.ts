import { never, type RecordedEvent } from '@app/kernel';
import type { RowProjection } from '@app/projecting';
import { z } from 'zod';

/** A stream whose events tell of an object, `<kind>/<id>`. */
export const auditObjectRow = z.strictObject({ object: z.string(), stream: z.string() });
export type AuditObjectRow = z.output<typeof auditObjectRow>;

type Telling =
  | { readonly type: 'TagCreated'; readonly data: { readonly tagId: string } }
  | { readonly type: 'UserMessageAdded' | 'AssistantMessageAdded'; readonly data: { readonly messageId: string } }
  | { readonly type: 'DocumentAdded'; readonly data: { readonly tagIds: readonly string[] } }
  | { readonly type: 'DocumentTagsChanged'; readonly data: { readonly attached: readonly string[] } };

/**
 * Where auditors find objects that have no stream of their own: messages stand in the stream of their conversation, tags in
 * that of their Space's tags, and are counted by documents. Rows outlive their objects, whose history stays readable.
 */
export const auditObjects: RowProjection = {
  kind: 'rows',
  name: 'audit-objects',
  version: 1,
  types: ['TagCreated', 'UserMessageAdded', 'AssistantMessageAdded', 'DocumentAdded', 'DocumentTagsChanged'],
  row: auditObjectRow,
  indexes: [{ name: 'by-object', fields: [{ field: 'object' }] }],
  apply: (recorded) => {
    const event = recorded as RecordedEvent<Telling>;
    const { stream } = event.context;
    return objectsOf(event).map((object) => ({ op: 'put', key: `${object}/${stream}`, row: { object, stream } }));
  },
};

const objectsOf = (event: Telling): readonly string[] => {
  switch (event.type) {
    case 'TagCreated':
      return [`tag/${event.data.tagId}`];
    case 'UserMessageAdded':
    case 'AssistantMessageAdded':
      return [`message/${event.data.messageId}`];
    case 'DocumentAdded':
      return event.data.tagIds.map((id) => `tag/${id}`);
    case 'DocumentTagsChanged':
      return event.data.attached.map((id) => `tag/${id}`);
    default:
      return never(event);
  }
};
