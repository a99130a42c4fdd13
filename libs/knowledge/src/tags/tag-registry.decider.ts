import { isErased, never, normalisedName, reject, type Decider, type Sensitive } from '@app/kernel';
import { Map as PersistentMap, Set as PersistentSet } from 'immutable';
import type { TagEvent } from './tag.events';

interface Tag {
  readonly name: Sensitive<string>;
  readonly color: string;
  /** Revision of the registry when the tag was changed last: a tag's own, for `If-Match`. */
  readonly revision: number;
}

/** The tags of one Space by id, so that uniqueness of names is one decision on one stream. */
export interface TagRegistryState {
  readonly tags: PersistentMap<string, Tag>;
  /** Which tag has a name, as names are compared. */
  readonly names: PersistentMap<string, string>;
  /** Ids that existed once; a repeated deletion follows from nothing. */
  readonly deleted: PersistentSet<string>;
}

/** Commands for the tags of a Space; `ifRevision`: only at this revision. */
export type TagCommand =
  | {
      readonly type: 'Create';
      readonly tagId: string;
      readonly spaceId: string;
      readonly name: string;
      readonly color: string;
    }
  | {
      readonly type: 'Update';
      readonly tagId: string;
      readonly name?: string;
      readonly color?: string;
      readonly ifRevision?: number;
    }
  /** `withSpace`: its Space is gone. */
  | { readonly type: 'Delete'; readonly tagId: string; readonly ifRevision?: number; readonly withSpace?: boolean };

/** Rejects `name_taken` for a name that normalises to one in use, `not_found` and `precondition_failed`. Streams are `tags-<spaceId>`. */
export const tagRegistryDecider: Decider<TagRegistryState, TagCommand, TagEvent> = {
  category: 'tags',
  initial: { tags: PersistentMap(), names: PersistentMap(), deleted: PersistentSet() },
  decide: (command, state) => {
    const tag = state.tags.get(command.tagId);
    switch (command.type) {
      case 'Create': {
        if (tag !== undefined) return reject('conflict', { reason: 'exists' });
        rejectTaken(command.name, command.tagId, state);
        const { tagId, spaceId, name, color } = command;
        return [{ type: 'TagCreated', data: { tagId, spaceId, name, color } }];
      }
      case 'Update': {
        if (tag === undefined) return reject('not_found', { kind: 'tag', id: command.tagId });
        rejectOther(command.ifRevision, tag);
        if (command.name !== undefined) rejectTaken(command.name, command.tagId, state);
        const name = command.name ?? tag.name;
        const color = command.color ?? tag.color;
        return name === tag.name && color === tag.color
          ? []
          : [{ type: 'TagUpdated', data: { tagId: command.tagId, name, color } }];
      }
      case 'Delete':
        if (tag === undefined)
          return state.deleted.has(command.tagId) ? [] : reject('not_found', { kind: 'tag', id: command.tagId });
        rejectOther(command.ifRevision, tag);
        return [
          {
            type: 'TagDeleted',
            data: { tagId: command.tagId, ...(command.withSpace === true ? { withSpace: true } : {}) },
          },
        ];
      default:
        return never(command);
    }
  },
  evolve: (state, event) => {
    const { tagId } = event.data;
    const names = withoutName(tagId, state);
    if (event.type === 'TagDeleted')
      return { tags: state.tags.delete(tagId), names, deleted: state.deleted.add(tagId) };
    const { name, color } = event.data;
    return {
      ...state,
      tags: state.tags.set(tagId, { name, color, revision: event.context.revision }),
      names: isErased(name) ? names : names.set(normalisedName(name), tagId),
    };
  },
  owner: (event) => (event.type === 'TagCreated' ? { spaceId: event.data.spaceId } : {}),
};

const withoutName = (tagId: string, { tags, names }: TagRegistryState): TagRegistryState['names'] => {
  const name = tags.get(tagId)?.name;
  return name === undefined || isErased(name) || names.get(normalisedName(name)) !== tagId
    ? names
    : names.delete(normalisedName(name));
};

const rejectTaken = (name: string, tagId: string, { names }: TagRegistryState): void => {
  const holder = names.get(normalisedName(name));
  if (holder !== undefined && holder !== tagId) reject('name_taken', { path: 'name' });
};

const rejectOther = (expected: number | undefined, { revision }: Tag): void => {
  if (expected !== undefined && expected !== revision) reject('precondition_failed', { expected, actual: revision });
};
