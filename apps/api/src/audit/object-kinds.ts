import type { RecordedEvent } from '@app/kernel';
import type { RowProjection } from '@app/projecting';
import { agents } from '@projections/agents';
import { apiKeys } from '@projections/api-keys';
import { spaces } from '@projections/spaces';
import { users } from '@projections/users';
import { presenter, type Presenter } from '../http';

/** A kind of object that auditors can ask for: the view its API reads, and how that API shows a row. */
export interface ObjectKind {
  readonly projection: RowProjection;
  readonly present: Presenter<object>;
  /** The stream of an object; null where it shares one with others and is found in the view `audit-objects`. */
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
  agent: { projection: agents, present: presenter(agents.row), stream: own('agent'), related: (first) => [of('space', 'spaceId')(first)] },
};
