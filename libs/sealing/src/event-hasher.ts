import type { EventMac, LogReader, MacCheck } from '@app/event-log';
import type { Position, StoredEvent } from '@app/kernel';
import { contentHash, isSealable, leafHash, type SealedEvent } from './event-hash';

/** An event as a seal needs it, hashed, with what its MAC says of it. */
export interface HashedEvent extends SealedEvent {
  readonly position: Position;
  readonly check: MacCheck;
  /** Its leaf in the Merkle tree of its seal. */
  readonly leaf: Buffer;
}

/** Events to be sealed, in columns: a message of as many objects would take longer than the hashes. */
export interface HashedPage {
  readonly ids: readonly string[];
  readonly streams: readonly string[];
  readonly revisions: readonly number[];
  readonly positions: readonly Position[];
  readonly contents: readonly string[];
  readonly checks: readonly MacCheck[];
  /** `LEAF_BYTES` each, one behind the other. */
  readonly leaves: Uint8Array;
  /** As of `LogPage`. */
  readonly next: Position | null;
  readonly end: boolean;
}

/**
 * Reads and hashes events to be sealed, callable from another thread: the slow part of sealing. It makes no decisions.
 */
export interface EventHasher {
  /** At most so many events behind a position. */
  page(after: Position | null, limit: number): Promise<HashedPage>;
  close(): void;
}

const LEAF_BYTES = 32;

/** Hashes pages of a log, in this thread. */
export const eventHasher = (log: LogReader, mac: EventMac): EventHasher => ({
  page: async (after, limit) => {
    const { events, next, end } = await log.readAll({ after, limit });
    const hashed = events.filter(isSealable).map((event) => hashedEvent(event, mac));
    const leaves = new Uint8Array(hashed.length * LEAF_BYTES);
    for (const [index, { leaf }] of hashed.entries()) leaves.set(leaf, index * LEAF_BYTES);
    return {
      ids: hashed.map(({ id }) => id),
      streams: hashed.map(({ stream }) => stream),
      revisions: hashed.map(({ revision }) => revision),
      positions: hashed.map(({ position }) => position),
      contents: hashed.map(({ content }) => content),
      checks: hashed.map(({ check }) => check),
      leaves,
      next,
      end,
    };
  },
  close: () => void log.close(),
});

/** The hash, the leaf and the check of the MAC of an event. */
export const hashedEvent = (event: StoredEvent, mac: EventMac): HashedEvent => {
  const { id, stream, revision, position } = event;
  const sealed = { id, stream, revision, content: contentHash(event) };
  return { ...sealed, position, check: mac.check(event), leaf: leafHash(sealed) };
};

/** The events of a page, in log order. */
export const hashedEvents = (page: HashedPage): readonly HashedEvent[] => {
  const leaves = Buffer.from(page.leaves.buffer, page.leaves.byteOffset, page.leaves.byteLength);
  return page.ids.map((id, index) => ({
    id,
    stream: page.streams[index] as string,
    revision: page.revisions[index] as number,
    position: page.positions[index] as Position,
    content: page.contents[index] as string,
    check: page.checks[index] as MacCheck,
    leaf: leaves.subarray(index * LEAF_BYTES, (index + 1) * LEAF_BYTES),
  }));
};
