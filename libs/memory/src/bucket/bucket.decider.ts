import { type Decider, never, reject, type Uuid } from '@app/kernel';
import { Map as PersistentMap, Set as PersistentSet } from 'immutable';
import type { MemoryKind } from '../memory/memory.events';
import type { BucketEvent, PlaceUse } from './bucket.events';

/** The place of a memory. */
interface Place {
  readonly hash: string;
  /** The texts that it is to have, by the tickets of edits that are under way: held beside the one that it has, since any of them may be cut short. */
  readonly edits: PersistentMap<Uuid, string>;
  /** The memory whose place it has, until that one is gone. */
  readonly replaces: string | null;
  /** Of the requests that took it; what is saved keeps those that are left. */
  readonly tickets: PersistentSet<Uuid>;
}

/** The places of a bucket. */
export interface Bucket {
  /** By memory, in the order in which they came. */
  readonly places: PersistentMap<string, Place>;
}

/** Which bucket: the shared memories of an Agent, or those of a user with it. */
export interface BucketOwner {
  readonly agentId: string;
  /** Null for the shared ones. */
  readonly userId: string | null;
  readonly kind: MemoryKind;
}

export interface TakePlace extends BucketOwner {
  readonly type: 'Take';
  readonly memoryId: string;
  readonly ticket: Uuid;
  readonly hash: string;
  readonly replaces: string | null;
  readonly use: PlaceUse;
  readonly screening: { readonly version: string };
  /** Most places of the bucket. */
  readonly most: number;
}

interface NoteText extends Omit<TakePlace, 'type' | 'use' | 'replaces' | 'most'> {
  readonly type: 'Note';
}

export type BucketCommand =
  /** With the use `edit` a memory that has a place is to have another text. */
  | TakePlace
  /** Says which text a memory has that has a place, now that the edit of the ticket is over. */
  | NoteText
  /** `ticket`: gives back the place of one request, null all that the memories have. */
  | { readonly type: 'Release'; readonly memoryIds: readonly string[]; readonly ticket: Uuid | null };

/**
 * The places for memories, so that a cap, and that a text is saved once, is one decision on one stream. A place is taken before its
 * memory is saved, and given back after it is gone. Proposals of a user that wait at an Agent have a stream of places of their own. Rejects `memory_full`, and `conflict` `equal_memory` with the `id` of the one that has the text.
 */
export const bucketDecider: Decider<Bucket, BucketCommand, BucketEvent> = {
  category: 'memories',
  initial: { places: PersistentMap() },
  decide: (command, { places }) => {
    switch (command.type) {
      case 'Take':
        return take(command, places);
      case 'Note': {
        const { type: _type, ...noted } = command;
        const place = places.get(noted.memoryId);
        const isKnown =
          place === undefined || (place.hash === noted.hash && editsAfter(place, noted).equals(place.edits));
        return isKnown ? [] : [{ type: 'MemoryPlaceTaken', data: { ...noted, replaces: null, use: 'note' } }];
      }
      case 'Release': {
        const { ticket } = command;
        const memoryIds = command.memoryIds.filter((id) =>
          ticket === null ? places.has(id) : places.get(id)?.tickets.has(ticket) === true,
        );
        return memoryIds.length === 0 ? [] : [{ type: 'MemoryPlaceReleased', data: { memoryIds, ticket } }];
      }
      default:
        return never(command);
    }
  },
  evolve: ({ places }, event) => {
    if (event.type === 'MemoryPlaceReleased') {
      const { memoryIds, ticket } = event.data;
      return { places: memoryIds.reduce((left, id) => without(left, id, ticket), places) };
    }
    const { memoryId, ticket, hash, replaces, use } = event.data;
    const place = places.get(memoryId);
    if (place !== undefined && use === 'edit')
      return { places: places.set(memoryId, { ...place, edits: place.edits.set(ticket, hash) }) };
    if (place !== undefined && use === 'note')
      return { places: places.set(memoryId, { ...place, hash, edits: editsAfter(place, event.data) }) };
    const tickets = (place?.tickets ?? PersistentSet()).add(ticket);
    const edits = place?.edits ?? PersistentMap();
    return { places: places.set(memoryId, { hash, edits, replaces: replaces ?? place?.replaces ?? null, tickets }) };
  },
};

const take = ({ type: _type, most, ...taken }: TakePlace, places: Bucket['places']): readonly BucketEvent[] => {
  const { memoryId, ticket, hash, replaces, use } = taken;
  const place = places.get(memoryId);
  if (place?.tickets.has(ticket) === true && place.hash === hash) return [];
  if (use === 'edit' && (place === undefined || isToHave(place, taken))) return [];
  const equal = places.findKey((other, id) => hasText(other, hash) && id !== memoryId && id !== replaces);
  if (equal !== undefined) return reject('conflict', { reason: 'equal_memory', id: equal });
  if (place === undefined) {
    if (replaces !== null && !places.has(replaces))
      return reject('not_found', { kind: 'memory', id: replaces, path: 'replaces' });
    if (replaces !== null && places.some((other) => other.replaces === replaces))
      return reject('conflict', { reason: 'memory_replaced' });
    if (replaces === null && countOf(places) >= most)
      return reject('memory_full', { kind: use === 'propose' ? 'proposed' : taken.kind, limit: most });
  }
  return [{ type: 'MemoryPlaceTaken', data: taken }];
};

/** Whether a place has a text, or is to have it. */
export const hasText = ({ hash, edits }: Place, text: string): boolean => hash === text || edits.includes(text);

/** Whether it is known that an edit is under way, or it has the text and no other edit can change that. */
const isToHave = ({ hash, edits }: Place, edit: Pick<TakePlace, 'ticket' | 'hash'>): boolean =>
  edits.get(edit.ticket) === edit.hash || (edits.isEmpty() && hash === edit.hash);

/** The edits that are left once one is over; others to the same text are held by that. */
const editsAfter = ({ edits }: Place, { ticket, hash }: Pick<TakePlace, 'ticket' | 'hash'>): Place['edits'] =>
  edits.delete(ticket).filter((text) => text !== hash);

/** The places that are taken: one that takes over another's is none more. */
export const countOf = (places: Bucket['places']): number =>
  places.count(({ replaces }) => replaces === null || !places.has(replaces));

const without = (places: Bucket['places'], memoryId: string, ticket: Uuid | null): Bucket['places'] => {
  const place = places.get(memoryId);
  const tickets = ticket === null ? undefined : place?.tickets.delete(ticket);
  return place === undefined || tickets === undefined || tickets.size === 0
    ? places.delete(memoryId)
    : places.set(memoryId, { ...place, tickets });
};
