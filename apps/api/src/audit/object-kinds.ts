import type { Rows } from '@app/auditing';
import { idOf, type RecordedEvent } from '@app/kernel';
import type { RowProjection } from '@app/projecting';
import type { Row } from '@app/read-store';
import { agents } from '@projections/agents';
import { apiKeys } from '@projections/api-keys';
import { conversations } from '@projections/conversations';
import { type DocumentRow, documents } from '@projections/documents';
import { limits } from '@projections/limits';
import { messages } from '@projections/messages';
import { models } from '@projections/models';
import { spaces } from '@projections/spaces';
import { tags } from '@projections/tags';
import { users } from '@projections/users';
import { agentView } from '../core/agents/agents-schemas';
import { apiKeyView } from '../core/api-keys/api-keys-schemas';
import { documentView } from '../core/knowledge/documents-schemas';
import { tagView } from '../core/knowledge/tags-schemas';
import { conversationView, messageView } from '../core/llm/conversations-schemas';
import { spaceView } from '../core/spaces/spaces-schemas';
import { userView } from '../core/users/users-schemas';
import { JsonText } from '../http';

/** A kind of object that auditors can ask for: the view its API reads, and how that API shows a row. */
export interface ObjectKind {
  readonly projection: RowProjection;
  /** `rows`: of its view, where that joins others. */
  readonly present: (row: Row, rows: Rows) => JsonText;
  /** The stream of an object; null where others share it and the view `audit-objects` knows. */
  readonly stream: ((id: string) => string) | null;
  /** Streams of what the object belongs to: their events change or end it too. */
  readonly related: (first: RecordedEvent) => readonly string[];
}

const ownStream = (category: string) => (id: string): string => `${category}-${id}`;
const related = (category: string, field: string) => (first: RecordedEvent): readonly string[] => [`${category}-${String(first.data[field])}`];
const none = (): readonly string[] => [];

/** Rows are folded from events, never read: they have the shape of the view's schema. */
const shownBy =
  <R extends object>(present: (row: R) => JsonText) =>
  (row: Row): JsonText =>
    present(row as unknown as R);

const ofKey = (first: RecordedEvent): readonly string[] => [`apiKeyUse-${idOf(first.context.stream)}`, ...related('user', 'userId')(first)];

/** Documents, and beside them the tags of their Space, as they stood then. */
const taggedDocuments: RowProjection = {
  ...documents,
  types: [...new Set([...documents.types, ...tags.types])],
  apply: (event) => [documents, tags].flatMap(({ types, apply }) => (types.includes(event.type) ? apply(event) : [])),
};
const tagsOfSpace = (first: RecordedEvent): readonly string[] => (typeof first.data['spaceId'] === 'string' ? related('tags', 'spaceId')(first) : []);

/** A global document does not say of which Space its tags are: they are shown by id. */
const documentWithTags = (given: Row, rows: Rows): JsonText => {
  // Folded by the documents' own projection, whose rows are these.
  const row = given as unknown as DocumentRow;
  const tagOf = (tagId: string): readonly object[] => {
    const tag = rows.get(tagId);
    return tag === undefined ? [] : [{ id: tagId, name: tag['name'], color: tag['color'] }];
  };
  return documentView(row, { tags: row.spaceId === null ? row.tagIds.map((id) => ({ id })) : row.tagIds.flatMap(tagOf) });
};

/** What the API shows of these is more than their row, or the catalogue itself: auditors see the row. */
const asItIs = (row: Row): JsonText => new JsonText(JSON.stringify(row));

/** By the resource's singular name (wire, Audit). */
export const objectKinds: Readonly<Record<string, ObjectKind>> = {
  user: { projection: users, present: shownBy(userView), stream: ownStream('user'), related: none },
  apiKey: { projection: apiKeys, present: shownBy(apiKeyView), stream: ownStream('apiKey'), related: ofKey },
  space: { projection: spaces, present: shownBy(spaceView), stream: ownStream('space'), related: none },
  agent: { projection: agents, present: shownBy(agentView), stream: ownStream('agent'), related: related('space', 'spaceId') },
  document: { projection: taggedDocuments, present: documentWithTags, stream: ownStream('document'), related: tagsOfSpace },
  tag: { projection: tags, present: shownBy(tagView), stream: null, related: related('space', 'spaceId') },
  conversation: { projection: conversations, present: shownBy(conversationView), stream: ownStream('conversation'), related: none },
  message: { projection: messages, present: shownBy(messageView), stream: null, related: none },
  limit: { projection: limits, present: asItIs, stream: null, related: none },
  model: { projection: models, present: asItIs, stream: ownStream('model'), related: none },
};
