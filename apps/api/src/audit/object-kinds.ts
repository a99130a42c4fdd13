import type { Rows } from '@app/auditing';
import { aggregates } from '@app/hosting';
import { JsonText } from '@app/http';
import type { AuditKind } from '@app/kernel';
import type { RowProjection } from '@app/projecting';
import type { Row } from '@app/read-store';
import { agents } from '@projections/agents';
import { apiKeys } from '@projections/api-keys';
import { conversations } from '@projections/conversations';
import { type DocumentRow, documents } from '@projections/documents';
import { limits } from '@projections/limits';
import { skillEntries } from '@projections/skill-entries';
import { skillInstallations } from '@projections/skill-installations';
import { memories, type MemoryRow } from '@projections/memories';
import { messages } from '@projections/messages';
import { models } from '@projections/models';
import { skills } from '@projections/skills';
import { spaces } from '@projections/spaces';
import { tags } from '@projections/tags';
import { users } from '@projections/users';
import { agentView } from '../core/agents/agents-schemas';
import { apiKeyView } from '../core/api-keys/api-keys-schemas';
import { documentView } from '../core/knowledge/documents-schemas';
import { tagView } from '../core/knowledge/tags-schemas';
import { conversationView, messageView } from '../core/llm/conversations-schemas';
import { skillView } from '../core/skills/skills-schemas';
import { entryView, installationView } from '../core/skills/marketplace-schemas';
import { memoryView } from '../core/memory/memories-schemas';
import { spaceView } from '../core/spaces/spaces-schemas';
import { userView } from '../core/users/users-schemas';

/** A kind of object that auditors can ask for: the view its API reads, and how that API shows a row. */
export interface ObjectKind extends AuditKind {
  readonly projection: RowProjection;
  /** `rows`: of its view, where that `joins` others. */
  readonly present: (row: Row, rows: Rows) => JsonText;
  readonly joins?: boolean;
}

/** Rows are folded from events, never read: they have the shape of the view's schema. */
const shownBy =
  <R extends Row>(present: (row: R) => JsonText) =>
  (row: Row): JsonText =>
    present(row as R);

/** Documents, and beside them the tags of their Space, as they stood then. */
const taggedDocuments: RowProjection = {
  ...documents,
  types: [...new Set([...documents.types, ...tags.types])],
  apply: (event) => [documents, tags].flatMap(({ types, apply }) => (types.includes(event.type) ? apply(event) : [])),
};

/** A global document does not say of which Space its tags are: they are shown by id. */
const documentWithTags = (given: Row, rows: Rows): JsonText => {
  // Folded by the documents' own projection, whose rows are these.
  const row = given as DocumentRow;
  const tagOf = (tagId: string): readonly object[] => {
    const tag = rows.get(tagId);
    return tag === undefined ? [] : [{ id: tagId, name: tag['name'], color: tag['color'] }];
  };
  return documentView(row, {
    tags: row.spaceId === null ? row.tagIds.map((id) => ({ id })) : row.tagIds.flatMap(tagOf),
  });
};

/** What the API shows of these is more than their row, or the catalogue itself: auditors see the row. */
const asItIs = (row: Row): JsonText => new JsonText(JSON.stringify(row));

const shown: Readonly<Record<string, Omit<ObjectKind, keyof AuditKind>>> = {
  user: { projection: users, present: shownBy(userView) },
  apiKey: { projection: apiKeys, present: shownBy(apiKeyView) },
  space: { projection: spaces, present: shownBy(spaceView) },
  agent: { projection: agents, present: shownBy(agentView) },
  document: { projection: taggedDocuments, present: documentWithTags, joins: true },
  tag: { projection: tags, present: shownBy(tagView) },
  conversation: { projection: conversations, present: shownBy(conversationView) },
  message: { projection: messages, present: shownBy(messageView) },
  skill: { projection: skills, present: shownBy(skillView) },
  skillEntry: { projection: skillEntries, present: shownBy(entryView) },
  skillInstallation: { projection: skillInstallations, present: shownBy(installationView) },
  memory: { projection: memories, present: shownBy((row: MemoryRow) => memoryView(row, { userId: row.userId })) },
  limit: { projection: limits, present: asItIs },
  model: { projection: models, present: asItIs },
};

/** By the resource's singular name (wire, Audit). Throws at the start where an aggregate declares a kind that no API shows, or one is shown that none declares. */
export const objectKinds: Readonly<Record<string, ObjectKind>> = Object.fromEntries(
  [...new Set([...Object.keys(aggregates.kinds), ...Object.keys(shown)])].map((kind) => {
    const [declared, by] = [aggregates.kinds[kind], shown[kind]];
    if (declared === undefined) throw new Error(`No aggregate declares the kind ${kind}: enter it in its \`kinds\`.`);
    if (by === undefined)
      throw new Error(
        `Nothing says how auditors are shown the kind ${kind}: enter its view and its presenter in \`shown\` (apps/api/src/audit/object-kinds.ts).`,
      );
    return [kind, { ...declared, ...by }];
  }),
);
