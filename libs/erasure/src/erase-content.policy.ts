import type { BlobName, Blobs } from '@app/blobs';
import {
  type Aggregates,
  type Clock,
  type EventCodec,
  isWrongExpectedRevision,
  type Position,
  reactionTo,
  type RecordedEvent,
  type StreamLog,
} from '@app/kernel';
import type { Policy } from '@app/projecting';
import type { Vault } from '@app/vault';
import { sharedRun } from './shared-run';

const NAME = 'erase-content';
/** Deletions that come together, such as those of a Space, are erased together. */
const CONCURRENCY = 200;
const THINGS_IN_RECEIPT = 5_000;

export interface EraseContentParts {
  readonly log: StreamLog;
  readonly codec: EventCodec;
  readonly vault: Pick<Vault, 'destroy'>;
  readonly blobs: Pick<Blobs, 'remove'>;
  readonly clock: Clock;
  readonly aggregates: Pick<Aggregates, 'erasedBy' | 'erasingTypes'>;
  /** Names of the blobs that the events of a stream ever named. */
  readonly blobsOf: (stream: string) => Promise<readonly BlobName[]>;
  /** Resolves once every view, those that are built beside too, shows everything up to a position. Rejects when one does not in time. */
  readonly viewsReached: (position: Position) => Promise<void>;
  /** Names of views that wait behind a dead letter of one of these streams: they may show what was deleted. */
  readonly heldBack: (streams: readonly string[]) => Promise<readonly string[]>;
  /** Stores that keep removed content on disk until they are purged. */
  readonly stores: readonly { readonly name: string; purge(): Promise<void> }[];
  /** Told of each receipt, by its stream, when it stands in the log. */
  readonly onReceipt: (stream: string) => Promise<void>;
  /** Memories that hold decrypted content. */
  readonly memories: readonly { readonly name: string; forget(things: readonly string[]): void }[];
}

/**
 * Erases what was deleted, in steps that may each be repeated: a process that dies goes on at the next start. The keys are
 * destroyed first, so nothing is readable from then on; the receipt comes last, when no store holds the content any more.
 */
export const eraseContent = (parts: EraseContentParts): Policy => {
  const purge = sharedRun(async () => void (await Promise.all(parts.stores.map((store) => store.purge()))));
  const forget = (things: readonly string[]): void => parts.memories.forEach((memory) => memory.forget(things));

  return {
    name: NAME,
    types: parts.aggregates.erasingTypes,
    concurrency: CONCURRENCY,
    react: async (event) => {
      const selector = parts.aggregates.erasedBy(event);
      const stream = `erasure-${event.context.id}`;
      if (selector === undefined || (await parts.log.readStream(stream, { limit: 1 })).length > 0) return;
      const things = await parts.vault.destroy(selector);
      forget(things);
      await parts.viewsReached(event.context.position);
      const held = await parts.heldBack([event.context.stream, ...things]);
      // No receipt for what a view may still show: this deletion becomes a dead letter too, to be retried after that one.
      if (held.length > 0)
        throw new Error(
          `dead letters in ${held.join(', ')} block this deletion: retry or discard them, then retry this one`,
        );
      const removed = await removeBlobs(parts, things);
      await purge();
      // Once more: whoever was reading when the key was destroyed may have remembered since.
      forget(things);
      await writeReceipt(parts, stream, event, things, removed);
      await parts.onReceipt(stream);
    },
  };
};

const removeBlobs = async ({ blobs, blobsOf }: EraseContentParts, things: readonly string[]): Promise<number> => {
  let removed = 0;
  for (const thing of things) {
    const names = await blobsOf(thing);
    await blobs.remove(names);
    removed += names.length;
  }
  return removed;
};

const writeReceipt = async (
  parts: EraseContentParts,
  stream: string,
  event: RecordedEvent,
  things: readonly string[],
  blobs: number,
): Promise<void> => {
  const { codec, log, clock, stores, memories } = parts;
  const purged = [...stores, ...memories].map(({ name }) => name);
  const receipt = {
    eventId: event.context.id,
    eventType: event.type,
    stream: event.context.stream,
    thingsInAll: things.length,
    blobs,
    purged,
  };
  const events = inChunks(things).map((chunk) => ({ type: 'ContentErased', data: { ...receipt, things: chunk } }));
  try {
    await log.append(stream, await codec.encode(stream, events, reactionTo(event, NAME, clock.now()), {}), 'noStream');
  } catch (error) {
    // A receipt that stands there is this one, or says the same.
    if (!isWrongExpectedRevision(error)) throw error;
  }
};

const inChunks = (things: readonly string[]): readonly (readonly string[])[] =>
  Array.from({ length: Math.max(1, Math.ceil(things.length / THINGS_IN_RECEIPT)) }, (_, index) =>
    things.slice(index * THINGS_IN_RECEIPT, (index + 1) * THINGS_IN_RECEIPT),
  );
