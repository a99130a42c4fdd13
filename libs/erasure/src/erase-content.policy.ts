import { setTimeout as pause } from 'node:timers/promises';
import type { BlobName, Blobs } from '@app/blobs';
import {
  type Aggregates,
  type Clock,
  type Decisions,
  Grouped,
  type KeySelector,
  type Position,
  reactionTo,
  type RecordedEvent,
  streamOf,
  Turns,
} from '@app/kernel';
import type { Policy } from '@app/projecting';
import type { DestroyOnce } from './destroy-once';
import { erasureReceipt } from './erasure-receipt.decider';

const NAME = 'erase-content';
/** Deletions that come together, such as those of a Space, are erased together. */
const CONCURRENCY = 200;

/** What the policy erases from, and what it asks. */
export interface EraseContentParts {
  readonly decisions: Pick<Decisions, 'load' | 'transact'>;
  /** One for both policies of erasure. */
  readonly destroy: DestroyOnce;
  readonly blobs: Pick<Blobs, 'remove'>;
  readonly clock: Clock;
  readonly aggregates: Pick<Aggregates, 'erasedBy' | 'erasingTypes'>;
  /** Names of the blobs that were ever named under a key: by the events of a stream, or of an entity in it. */
  readonly blobsOf: (key: string) => Promise<readonly BlobName[]>;
  /** Resolves once every view, those that are built beside too, shows everything up to a position. Rejects when one does not in time. */
  readonly viewsReached: (position: Position) => Promise<void>;
  /** Names of views that wait behind a dead letter of one of these streams: they may show what was deleted. */
  readonly heldBack: (streams: readonly string[]) => Promise<readonly string[]>;
  /** Stores that keep removed content on disk until they are purged. */
  readonly stores: readonly { readonly name: string; purge(): Promise<void> }[];
  /** Told of each receipt, by its stream, before it is written. */
  readonly onReceipt: (stream: string) => Promise<void>;
  /** Memories that hold decrypted content. */
  readonly memories: readonly { readonly name: string; forget(streams: readonly string[]): void }[];
}

/** Deletions that go on in one turn of the event loop: who reads meanwhile waits no longer. */
export const EACH_TURN = 2;

/** Rounds of erasing begin so far apart: each looks at all views, however few deletions it is for. */
const ROUND_MS = 250;

/** What the policies of erasure have in common: nothing is done for what has its receipt. */
export const onDeletion = (
  parts: Pick<EraseContentParts, 'aggregates' | 'decisions'>,
  turns: Turns,
  erase: (event: RecordedEvent, selector: KeySelector) => Promise<void>,
): Pick<Policy, 'types' | 'concurrency' | 'react'> => ({
  types: parts.aggregates.erasingTypes,
  concurrency: CONCURRENCY,
  react: async (event) => {
    await turns.next();
    const selector = parts.aggregates.erasedBy(event);
    if (selector === undefined || (await parts.decisions.load(erasureReceipt, event.context.id)).state) return;
    await erase(event, selector);
  },
});

/**
 * Erases deleted content in repeatable steps: if a process dies, the next start continues. Destroys the keys first,
 * so nothing is readable from then on. Writes the receipt last, when no store holds the content.
 */
export const eraseContent = (parts: EraseContentParts): Policy => {
  const purge = sharedRun(async () => void (await Promise.all(parts.stores.map((store) => store.purge()))));
  const turns = new Turns(EACH_TURN);
  let roundBegan = -ROUND_MS;
  /** Positions are those of the deletions of one round. */
  const viewsReached = new Grouped<Position, undefined>(async (positions) => {
    const early = roundBegan + ROUND_MS - performance.now();
    if (early > 0) await pause(early);
    roundBegan = performance.now();
    await parts.viewsReached(positions.reduce((latest, position) => (position > latest ? position : latest)));
    return positions.map(() => undefined);
  });
  const forget = (streams: readonly string[]): void => parts.memories.forEach((memory) => memory.forget(streams));

  return {
    name: NAME,
    ...onDeletion(parts, turns, async (event, selector) => {
      const streams = await parts.destroy(NAME, event.context.id, selector);
      await turns.next();
      forget(streams);
      await viewsReached.join(event.context.position);
      const held = await parts.heldBack([event.context.stream, ...streams]);
      // No receipt for what a view may still show: this deletion becomes a dead letter too, to be retried after that one.
      if (held.length > 0)
        throw new Error(
          `dead letters in ${held.join(', ')} block this deletion: retry or discard them, then retry this one`,
        );
      const removed = await removeBlobs(parts, streams);
      await purge();
      await turns.next();
      // Once more: whoever was reading when the key was destroyed may have remembered since.
      forget(streams);
      await parts.onReceipt(streamOf(erasureReceipt.category, event.context.id));
      // It ends for all of a round at once.
      await turns.next();
      await writeReceipt(parts, event, streams, removed);
    }),
  };
};

/** Removes what was ever named under destroyed keys; answers how many that were. */
export const removeBlobs = async (
  { blobs, blobsOf }: Pick<EraseContentParts, 'blobs' | 'blobsOf'>,
  streams: readonly string[],
): Promise<number> => {
  let removed = 0;
  for (const stream of streams) {
    const names = await blobsOf(stream);
    await blobs.remove(names);
    removed += names.length;
  }
  return removed;
};

const writeReceipt = async (
  { decisions, clock, stores, memories }: EraseContentParts,
  event: RecordedEvent,
  streams: readonly string[],
  blobs: number,
): Promise<void> => {
  const { id, stream } = event.context;
  const purged = [...stores, ...memories].map(({ name }) => name);
  await decisions.transact(
    erasureReceipt,
    id,
    { eventId: id, eventType: event.type, stream, streams, blobs, purged },
    reactionTo(event, NAME, clock.now()),
  );
};

/** Runs work once for all who ask before it begins: who asks while it runs gets the next run, since theirs may have come too late for this one. */
const sharedRun = (work: () => Promise<void>): (() => Promise<void>) => {
  let next: Promise<void> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  return () => {
    next ??= last.then(() => {
      next = undefined;
      const run = work();
      last = run.catch(() => undefined);
      return run;
    });
    return next;
  };
};
