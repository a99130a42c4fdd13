import { ERASED, type Json, type SnapshotFormat } from '@app/kernel';
import { Map as PersistentMap, OrderedMap, Set as PersistentSet } from 'immutable';
import type { ConversationState, LiveConversation } from './conversation.decider';

/** The entries of a map, and the members of a set, in JSON. */
type SavedMap = readonly (readonly [string, Json])[];
type SavedSet = readonly string[];

/**
 * A conversation in a snapshot: its whole state without content. No snapshot is written while an answer is made,
 * because the state then holds its words. `version`: raise it whenever a field is added, removed or folded differently.
 */
export const conversationSnapshot: SnapshotFormat<ConversationState> = {
  version: 7,
  save: (state) => {
    if (state.status !== 'Live' || state.open.size > 0) return undefined;
    const { title: _, open: __, ...fields } = state;
    return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, savedValue(value)]));
  },
  restore: (saved) => {
    const fields = Object.entries(saved as Readonly<Record<string, Json>>).map(([name, value]) => [
      name,
      restoredValue(value),
    ]);
    return { ...(Object.fromEntries(fields) as LiveConversation), title: ERASED, open: OrderedMap() };
  },
};

/** The casts rely on `version`: only the code that wrote a snapshot reads it. */
const savedValue = (value: unknown): Json => {
  if (PersistentMap.isMap(value)) return { $map: [...value] as SavedMap };
  return PersistentSet.isSet(value) ? { $set: [...value] as SavedSet } : (value as Json);
};

const restoredValue = (value: Json): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if ('$map' in value) return PersistentMap(value['$map'] as SavedMap);
  return '$set' in value ? PersistentSet(value['$set'] as SavedSet) : value;
};
