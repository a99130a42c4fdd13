import { type Decider, never, reject, type Uuid } from '@app/kernel';
import { Map as PersistentMap, Set as PersistentSet } from 'immutable';
import type { MemoryKind } from '../memory/memory.events';
import type { BucketEvent, PlaceUse } from './bucket.events';

/** The place of a memory. */
interface Place {
  readonly hash: string;
  /** The memory whose place it has, until that one is gone. */
  readonly replaces: string | null;
  /** Of the requests that took it; what is saved keeps those that are left. */
  readonly tickets: PersistentSet<Uuid>;
}

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

export type BucketCommand =
  /** With the use `edit` a memory that has a place is to have another text. */
  | TakePlace
  /** Says which text a memory has that has a place, whatever was to become of it. */
  | ({ readonly type: 'Note' } & Omit<TakePlace, 'type' | 'most'>)
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
        const { type: _type, ...taken } = command;
        return textOf(taken, places) === taken.hash ? [] : [{ type: 'MemoryPlaceTaken', data: taken }];
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
    const { memoryId, ticket, hash, replaces } = event.data;
    const place = places.get(memoryId);
    const tickets = (place?.tickets ?? PersistentSet()).add(ticket);
    return { places: places.set(memoryId, { hash, replaces: replaces ?? place?.replaces ?? null, tickets }) };
  },
};

const take = ({ type: _type, most, ...taken }: TakePlace, places: Bucket['places']): readonly BucketEvent[] => {
  const { memoryId, ticket, hash, replaces, use } = taken;
  const place = places.get(memoryId);
  if (place?.tickets.has(ticket) === true && place.hash === hash) return [];
  if (use === 'edit' && textOf(taken, places) === hash) return [];
  const equal = places.findKey((other, id) => other.hash === hash && id !== memoryId && id !== replaces);
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

/** The text that the place of a memory has; the one that it is to have where it has no place, which is that of an edit that came late. */
const textOf = ({ memoryId, hash }: Pick<TakePlace, 'memoryId' | 'hash'>, places: Bucket['places']): string =>
  places.get(memoryId)?.hash ?? hash;

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
