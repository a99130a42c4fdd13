import { setTimeout as pause } from 'node:timers/promises';
import { type CommandMeta, Decisions, deriveId, type Receipt, stepOf, unlessLeft } from '@app/kernel';
import { Injectable } from '@nestjs/common';
import type { BucketOwner } from '../bucket/bucket.decider';
import { bucketIdOf, bucketOf, type Held, Places, waitingOf } from '../bucket/places';
import { memoryDecider, type MemoryPlace, type NewMemory } from './memory.decider';

/** Memories that are deleted at the same time: each is erased for itself, and others read meanwhile. */
const AT_ONCE = 4;
/** Many are deleted at this pace, so that others read meanwhile as quickly as before; all of them take this long at most, on a machine that can. */
const PACE_MS = 6;
const MOST_MS = 6_000;
/** Fewer are deleted as fast as it goes. */
const UNPACED = 20;

/** Waits until so many may be left. Who is late waits for nothing. */
const pacing = (all: number): ((left: number) => Promise<void>) => {
  const began = performance.now();
  const each = all <= UNPACED ? 0 : Math.min(PACE_MS, MOST_MS / all);
  return async (left) => {
    const early = began + (all - left - 1) * each - performance.now();
    if (early > 0) await pause(early);
  };
};

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

  /** Deletes memories, or proposals, and gives back the places of each bucket together. Answers the last receipt; undefined where there was none to delete. */
  async deleteAll(memoryIds: readonly string[], meta: CommandMeta): Promise<Receipt | undefined> {
    const freed = new Map<string, { readonly place: MemoryPlace; readonly held: Held; readonly memoryIds: string[] }>();
    const receipts: Receipt[] = [];
    const left = [...memoryIds];
    const pace = pacing(memoryIds.length);
    const workers = Array.from({ length: Math.min(AT_ONCE, left.length) }, async () => {
      for (let memoryId = left.pop(); memoryId !== undefined; memoryId = left.pop()) {
        await pace(left.length);
        const { state } = await this.decisions.load(memoryDecider, memoryId);
        receipts.push(
          await this.decisions.transact(memoryDecider, memoryId, { type: 'Delete' }, stepOf(meta, memoryId)),
        );
        if (state.status !== 'saved' && state.status !== 'proposed') continue;
        const held = state.status;
        const bucketId = bucketIdOf(ownerOf(state, held), held);
        const known = freed.get(bucketId) ?? { place: state, held, memoryIds: [] };
        known.memoryIds.push(memoryId);
        freed.set(bucketId, known);
      }
    });
    await Promise.all(workers);
    for (const { place, held, memoryIds: gone } of freed.values())
      await unlessLeft(() => this.freePlaces(gone, place, meta, held));
    return receipts.toSorted((a, b) => (a.position < b.position ? -1 : 1)).at(-1);
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
  async lapse(memoryId: string, place: MemoryPlace, now: Date): Promise<void> {
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
}

/** Proposals wait at their user, also those of shared memories. */
const ownerOf = (place: MemoryPlace, held: Held): BucketOwner =>
  held === 'proposed' ? waitingOf(place) : bucketOf(place);
