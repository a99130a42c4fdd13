import { idOf, never, type RecordedEvent } from '@app/kernel';
import type { RowProjection } from '@app/projecting';
import { z } from 'zod';

/** A stream whose events tell of an object, `<kind>/<id>`. */
export const auditObjectRow = z.strictObject({ object: z.string(), stream: z.string() });
export type AuditObjectRow = z.output<typeof auditObjectRow>;

type Telling =
  | { readonly type: 'TagCreated'; readonly data: { readonly tagId: string } }
  | { readonly type: 'UserMessageAdded' | 'AssistantMessageAdded'; readonly data: { readonly messageId: string } }
  | { readonly type: 'DocumentAdded'; readonly data: { readonly tagIds: readonly string[] } }
  | { readonly type: 'DocumentTagsChanged'; readonly data: { readonly attached: readonly string[] } }
  | { readonly type: 'SpendLimitSet'; readonly data: { readonly limitId: string } }
  | { readonly type: 'ApiKeyCreated' | 'ApiKeyChanged'; readonly data: { readonly usageLimit?: object | null } };

/**
 * Where auditors find objects that have no stream of their own: messages stand in the stream of their conversation, tags in
 * that of their Space's tags, and are counted by documents, limits in one register, or with their API key. Rows outlive their objects, whose history stays readable.
 */
export const auditObjects: RowProjection = {
  kind: 'rows',
  name: 'audit-objects',
  version: 1,
  perStream: true,
  types: [
    'TagCreated',
    'UserMessageAdded',
    'AssistantMessageAdded',
    'DocumentAdded',
    'DocumentTagsChanged',
    'SpendLimitSet',
    'ApiKeyCreated',
    'ApiKeyChanged',
  ],
  row: auditObjectRow,
  indexes: [{ name: 'by-object', fields: [{ field: 'object' }] }],
  apply: (recorded) => {
    const event = recorded as RecordedEvent<Telling>;
    const { stream } = event.context;
    return objectsOf(event).map((object) => ({ op: 'put', key: `${object}/${stream}`, row: { object, stream } }));
  },
};

const objectsOf = (event: RecordedEvent<Telling>): readonly string[] => {
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
    case 'SpendLimitSet':
      return [`limit/${event.data.limitId}`];
    case 'ApiKeyCreated':
    case 'ApiKeyChanged':
      return event.data.usageLimit === undefined || event.data.usageLimit === null
        ? []
        : [`limit/${idOf(event.context.stream)}`];
    default:
      return never(event);
  }
};
