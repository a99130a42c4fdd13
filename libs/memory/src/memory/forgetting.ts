import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import {
  type CommandMeta,
  Decisions,
  deriveId,
  type Failure,
  isUnavailable,
  type Receipt,
  stepOf,
  unlessLeft,
} from '@app/kernel';
import { Injectable } from '@nestjs/common';
import type { BucketOwner } from '../bucket/bucket.decider';
import { bucketOf, type Held, Places, waitingOf } from '../bucket/places';
import { memoryDecider, type MemoryPlace, type NewMemory } from './memory.decider';

/** Memories that are deleted together, in one commit as a rule: each commit is one more for every view, policy and key vault behind it. */
const TOGETHER = 10;
/** Many are deleted at this pace, so that others read meanwhile as quickly as before; all of them take this long at most, on a machine that can. */
const PACE_MS = 7.5;
const MOST_MS = 7_500;
/** Fewer are deleted as fast as it goes. */
const UNPACED = 20;

/** Memories that are looked at in one turn of the event loop: each may be read from the log. */
export const LOOKED_AT = 5;

/** Waits until so many may have been begun. Who is late waits for nothing. */
const pacing = (all: number): ((begun: number) => Promise<void>) => {
  const began = performance.now();
  const each = all <= UNPACED ? 0 : Math.min(PACE_MS, MOST_MS / all);
  return async (begun) => {
    const early = began + begun * each - performance.now();
    if (early > 0) await pause(early);
  };
};

/** A place that is given back once its memory is gone. */
interface Holding {
  /** Of its bucket, as text. */
  readonly bucket: string;
  readonly place: MemoryPlace;
  readonly held: Held;
}

/** One of the memories that are to be deleted; without a place where it is gone already. */
interface Leaving {
  readonly memoryId: string;
  readonly holding?: Holding;
}

/** What came of deleting memories. */
export interface DeletedMemories {
  /** The last receipt; undefined where there was none to delete. */
  readonly last: Receipt | undefined;
  /** What could not be deleted. */
  readonly failures: readonly Failure[];
}

/** Deletes memories and gives their places back. Policies do what is left of it where a process dies. */
@Injectable()
export class Forgetting {
  constructor(
    private readonly decisions: Decisions,
    private readonly places: Places,
  ) {}

  /** Deletes a memory, or a proposal. */
  async delete(memoryId: string, meta: CommandMeta): Promise<Receipt> {
    const { state } = await this.decisions.load(memoryDecider, memoryId);
    const receipt = await this.decisions.transact(memoryDecider, memoryId, { type: 'Delete' }, meta);
    if (state.status === 'saved') await unlessLeft(() => this.freePlaces([memoryId], state, meta));
    if (state.status === 'proposed') await unlessLeft(() => this.freePlaces([memoryId], state, meta, 'proposed'));
    return receipt;
  }

  /**
   * Deletes memories, or proposals, some at a time, those of a bucket together, and gives their places back. One that fails keeps no other
   * from it: the first failure is thrown at the end, or at once where a store is away.
   */
  async deleteAll(memoryIds: readonly string[], meta: CommandMeta): Promise<void> {
    const { failures } = await this.deleteEach(memoryIds, meta);
    if (failures.length > 0) throw failures[0]?.error;
  }

  /** As `deleteAll`, but answers what could not be deleted, and the last receipt; undefined where there was none to delete. Throws `Unavailable`. */
  async deleteEach(memoryIds: readonly string[], meta: CommandMeta): Promise<DeletedMemories> {
    const failures: Failure[] = [];
    const leaving: Leaving[] = [];
    for (const [at, memoryId] of memoryIds.entries()) {
      if (at % LOOKED_AT === LOOKED_AT - 1) await nextTurn();
      await orFailure(failures, [memoryId], async () => leaving.push(await this.leaving(memoryId)));
    }
    const byBucket = [...Map.groupBy(leaving, ({ holding }) => holding?.bucket).values()].flat();
    const pace = pacing(byBucket.length);
    let last: Receipt | undefined;
    for (let from = 0; from < byBucket.length; from += TOGETHER) {
      await pace(from);
      const { receipts, failures: failed } = await this.deleteTogether(byBucket.slice(from, from + TOGETHER), meta);
      failures.push(...failed);
      for (const receipt of receipts) if (last === undefined || receipt.position > last.position) last = receipt;
    }
    return { last, failures };
  }

  /** Deletes what a saved memory took the place of. Answers up to where a view must be to show neither too much nor too little. */
  async replacedBy({ replaces }: Pick<NewMemory, 'replaces'>, saved: Receipt, meta: CommandMeta): Promise<Receipt> {
    if (replaces === null) return saved;
    const deleted = await unlessLeft(() => this.delete(replaces, stepOf(meta, 'replaced')));
    return deleted === undefined || deleted.position < saved.position
      ? saved
      : { ...saved, position: deleted.position };
  }

  /** Discards a proposal whose time is over. A choice that is faster stands: rejects `conflict`. */
  async expire(memoryId: string, place: MemoryPlace, now: Date): Promise<void> {
    const commandId = deriveId(memoryId, 'lapsed');
    const meta = { commandId, correlationId: commandId, actor: 'system:memories', now };
    await this.decisions.transact(memoryDecider, memoryId, { type: 'Discard', reason: 'lapsed' }, meta);
    await unlessLeft(() => this.freePlaces([memoryId], place, meta, 'proposed'));
  }

  /** Gives back the places of memories that are gone. */
  async freePlaces(
    memoryIds: readonly string[],
    place: MemoryPlace,
    meta: CommandMeta,
    held: Held = 'saved',
  ): Promise<void> {
    await this.places.release(ownerOf(place, held), memoryIds, null, meta, held);
  }

  private async leaving(memoryId: string): Promise<Leaving> {
    const { state } = await this.decisions.load(memoryDecider, memoryId);
    const held = state.status;
    if (held !== 'saved' && held !== 'proposed') return { memoryId };
    const { agentId, userId, kind } = state;
    const place = { agentId, userId, kind };
    return { memoryId, holding: { bucket: JSON.stringify([ownerOf(place, held), held]), place, held } };
  }

  /** The policy that would give the places back, one by one, then finds that done. */
  private async deleteTogether(leaving: readonly Leaving[], meta: CommandMeta) {
    const failures: Failure[] = [];
    const receipts: Receipt[] = [];
    const deleted: Leaving[] = [];
    const settled = await Promise.allSettled(
      leaving.map(async (each) => {
        const { memoryId } = each;
        await orFailure(failures, [memoryId], async () => {
          receipts.push(
            await this.decisions.transact(memoryDecider, memoryId, { type: 'Delete' }, stepOf(meta, memoryId)),
          );
          deleted.push(each);
        });
      }),
    );
    for (const gone of Map.groupBy(deleted, ({ holding }) => holding?.bucket).values()) {
      const [{ holding }] = gone as [Leaving];
      const ids = gone.map(({ memoryId }) => memoryId);
      if (holding !== undefined)
        await orFailure(failures, ids, () => unlessLeft(() => this.freePlaces(ids, holding.place, meta, holding.held)));
    }
    for (const each of settled) if (each.status === 'rejected') throw each.reason;
    return { receipts, failures };
  }
}

/** Does work for memories, and notes where it failed; throws where a store is away. */
const orFailure = async (failures: Failure[], ids: readonly string[], work: () => Promise<unknown>): Promise<void> => {
  try {
    await work();
  } catch (error) {
    if (isUnavailable(error)) throw error;
    failures.push(...ids.map((id) => ({ id, error })));
  }
};

/** Proposals wait at their user, also those of shared memories. */
const ownerOf = (place: MemoryPlace, held: Held): BucketOwner =>
  held === 'proposed' ? waitingOf(place) : bucketOf(place);
