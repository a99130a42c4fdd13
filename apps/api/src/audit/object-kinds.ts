import type { RecordedEvent } from '@app/kernel';
import type { RowProjection } from '@app/projecting';
import { agents } from '@projections/agents';
import { apiKeys } from '@projections/api-keys';
import { conversations } from '@projections/conversations';
import { documents } from '@projections/documents';
import { messages } from '@projections/messages';
import { spaces } from '@projections/spaces';
import { tags } from '@projections/tags';
import { users } from '@projections/users';
import { presenter, type Presenter } from '../http';

/** A kind of object that auditors can ask for: the view its API reads, and how that API shows a row. */
export interface ObjectKind {
  readonly projection: RowProjection;
  readonly present: Presenter<object>;
  /** The stream of an object; null where others share it and the view `audit-objects` knows. */
  readonly stream: ((id: string) => string) | null;
  /** Streams of what the object belongs to: their events change or end it too. */
  readonly related: (first: RecordedEvent) => readonly string[];
}

const own = (category: string) => (id: string): string => `${category}-${id}`;
const none = (): readonly string[] => [];
const of = (category: string, field: string) => (first: RecordedEvent): string => `${category}-${String(first.data[field])}`;

/** By the resource's singular name (wire, Audit). */
export const objectKinds: Readonly<Record<string, ObjectKind>> = {
  user: { projection: users, present: presenter(users.row), stream: own('user'), related: none },
  apiKey: { projection: apiKeys, present: presenter(apiKeys.row), stream: own('apiKey'), related: (first) => [`apiKeyUse-${first.context.stream.slice('apiKey-'.length)}`, of('user', 'userId')(first)] },
  space: { projection: spaces, present: presenter(spaces.row), stream: own('space'), related: none },
  document: { projection: documents, present: presenter(documents.row.omit({ place: true, file: true, text: true, passages: true, failure: true })), stream: own('document'), related: none },
  tag: { projection: tags, present: presenter(tags.row.pick({ id: true, name: true, color: true, documentCount: true })), stream: null, related: (first) => [of('space', 'spaceId')(first)] },
  conversation: { projection: conversations, present: presenter(conversations.row.omit({ spaceId: true })), stream: own('conversation'), related: none },
  message: { projection: messages, present: presenter(messages.row.omit({ sequence: true })), stream: null, related: none },
  agent: { projection: agents, present: presenter(agents.row), stream: own('agent'), related: (first) => [of('space', 'spaceId')(first)] },
};
