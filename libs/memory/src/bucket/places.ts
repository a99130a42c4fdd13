import { setTimeout as pause } from 'node:timers/promises';
import {
  type CommandMeta,
  CONFIG,
  type Config,
  Decisions,
  type Ids,
  IDS,
  InstanceSecret,
  isDomainError,
  isUndone,
  nameId,
  normalisedName,
  Queues,
  type Receipt,
  stepOf,
  unlessLeft,
  type Uuid,
} from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';
import { type Memory, memoryDecider, type MemoryPlace } from '../memory/memory.decider';
import { type BucketOwner, bucketDecider, hasText, type TakePlace } from './bucket.decider';
import type { PlaceUse } from './bucket.events';

/** How long a request may take between taking a place and saving its memory, before others settle that for it. */
export const PLACE_GRACE_MS = 5_000;
const POLL_MS = 20;
/** How long giving back a place waits for those before it. */
const RELEASES_MS = 5_000;

/** What takes a place. */
export type PlaceRequest = Pick<TakePlace, 'memoryId' | 'hash' | 'replaces' | 'use' | 'screening'>;

/** The bucket of a memory. */
export const bucketOf = ({ agentId, userId, kind }: MemoryPlace): BucketOwner => ({
  agentId,
  userId: kind === 'shared' ? null : userId,
  kind,
});

/** Where a proposal waits: at its user, also one of a shared memory. */
export const waitingOf = ({ agentId, userId, kind }: MemoryPlace): BucketOwner => ({ agentId, userId, kind });

/** What the places of a stream are for: memories that are saved, or proposals that wait. */
export type Held = 'saved' | 'proposed';

/** The id of a bucket: that of the Agent for the shared ones. Proposals of both kinds wait in one, each user's at an Agent. */
export const bucketIdOf = ({ agentId, userId }: BucketOwner, held: Held = 'saved'): Uuid => {
  if (held === 'proposed') return nameId(agentId, `${userId}/proposals`);
  return userId === null ? agentId : nameId(agentId, userId);
};

/** It is never saved again. */
const isGone = ({ status }: Memory): boolean => status !== 'absent' && status !== 'proposed' && status !== 'saved';

const heldFor = (use: PlaceUse): Held => (use === 'propose' ? 'proposed' : 'saved');

/** The places of memories in buckets: each is taken before its memory is saved. */
@Injectable()
export class Places {
  private readonly releases = new Queues();

  constructor(
    private readonly decisions: Decisions,
    private readonly secret: InstanceSecret,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CONFIG) private readonly config: Pick<Config, 'MEMORY_PERSONAL_MAX' | 'MEMORY_SHARED_MAX'>,
  ) {}

  /** Keyed hash of a text in a bucket: the same for texts that differ in case, width, spaces or what is invisible. */
  hashOf(owner: BucketOwner, text: string): string {
    return this.secret.hash('memory', `${bucketIdOf(owner)}\0${normalisedName(text)}`);
  }

  mostOf({ kind }: Pick<BucketOwner, 'kind'>): number {
    return kind === 'shared' ? this.config.MEMORY_SHARED_MAX : this.config.MEMORY_PERSONAL_MAX;
  }

  /** The memory in a bucket that has a text, if one does. */
  async equalTo(owner: BucketOwner, hash: string): Promise<string | undefined> {
    const { state } = await this.decisions.load(bucketDecider, bucketIdOf(owner));
    return state.places.findKey((place) => hasText(place, hash));
  }

  /**
   * Takes a place, then acts. A rejection gives it back, and so does a store that did not serve; where the outcome of the act is unknown a policy settles it. Rejects
   * `memory_full`, and `conflict` `equal_memory` with the `id` of the memory that has the text.
   */
  async taking<T>(owner: BucketOwner, taking: PlaceRequest, meta: CommandMeta, act: () => Promise<T>): Promise<T> {
    const ticket = this.ids.next();
    const held = heldFor(taking.use);
    const command = { type: 'Take', ...owner, ...taking, ticket, most: this.mostOf(owner) } as const;
    await this.decisions.transact(bucketDecider, bucketIdOf(owner, held), command, this.step(meta));
    try {
      return await act();
    } catch (error) {
      const release = () => this.release(owner, [taking.memoryId], ticket, meta, held);
      if (isDomainError(error)) await unlessLeft(release);
      if (isUndone(error))
        await unlessLeft(async () => {
          const { state } = await this.decisions.load(memoryDecider, taking.memoryId);
          if (state.status !== held) await release();
        });
      throw error;
    }
  }

  /**
   * Holds the text that a saved memory is to have beside the one that it has, then acts. Whatever comes of it, its place has that of the memory
   * afterwards; where the outcome of the act is unknown a policy sees to that. Rejects `conflict` `equal_memory` as `taking` does. The act is given
   * how many edits were over before, and rejects `conflict` `memory_edited` where more are: then its text may have gone to another, and is taken anew.
   */
  async editing(
    owner: BucketOwner,
    edited: Pick<PlaceRequest, 'memoryId' | 'hash' | 'screening'>,
    meta: CommandMeta,
    act: (edits: number) => Promise<Receipt>,
  ): Promise<Receipt> {
    for (;;) {
      const { state } = await this.decisions.load(memoryDecider, edited.memoryId);
      const edits = state.status === 'saved' ? (state.edits ?? 0) : 0;
      try {
        return await this.editingOnce(owner, edited, meta, () => act(edits));
      } catch (error) {
        if (!isDomainError(error, 'conflict') || error.facts['reason'] !== 'memory_edited') throw error;
      }
    }
  }

  private async editingOnce(
    owner: BucketOwner,
    { memoryId, hash, screening }: Pick<PlaceRequest, 'memoryId' | 'hash' | 'screening'>,
    meta: CommandMeta,
    act: () => Promise<Receipt>,
  ): Promise<Receipt> {
    const taking = { memoryId, hash, screening, replaces: null, use: 'edit' } as const;
    const ticket = this.ids.next();
    const command = { type: 'Take', ...owner, ...taking, ticket, most: this.mostOf(owner) } as const;
    await this.decisions.transact(bucketDecider, bucketIdOf(owner), command, this.step(meta));
    try {
      const receipt = await act();
      await unlessLeft(() => this.note(memoryId, ticket, meta));
      return receipt;
    } catch (error) {
      if (isDomainError(error) || isUndone(error)) await unlessLeft(() => this.note(memoryId, ticket, meta));
      throw error;
    }
  }

  /** Gives the place of a saved memory the text that it has, also one that it gets meanwhile. The edit of the ticket is over. */
  async note(memoryId: string, ticket: Uuid, meta: CommandMeta): Promise<void> {
    for (let noted: string | undefined; ;) {
      const { state } = await this.decisions.load(memoryDecider, memoryId);
      if (state.status !== 'saved' || state.hash === noted) return;
      const { hash, screening } = state;
      const owner = bucketOf(state);
      const note = { type: 'Note', ...owner, memoryId, hash, screening, ticket } as const;
      await this.decisions.transact(bucketDecider, bucketIdOf(owner), note, this.step(meta));
      noted = hash;
    }
  }

  /**
   * Gives back all places of memories that are gone, or with a ticket that of one request. Those of a bucket take turns: who gives back
   * what somebody else in this process does finds it done, instead of racing for the revision.
   */
  release(
    owner: BucketOwner,
    memoryIds: readonly string[],
    ticket: Uuid | null,
    meta: CommandMeta,
    held: Held = 'saved',
  ): Promise<Receipt> {
    const id = bucketIdOf(owner, held);
    return this.releases.run(id, RELEASES_MS, () =>
      this.decisions.transact(bucketDecider, id, { type: 'Release', memoryIds, ticket }, this.step(meta)),
    );
  }

  /**
   * Whether a memory has a text in a bucket, as `equal_memory` said: `has`, or `free` where it is gone, or was not saved or changed to that in the end;
   * its place is given back then. Waits for a request that is at it, for as long as that may take, and answers `unsettled` where that is not enough.
   */
  async holding(
    owner: BucketOwner,
    memoryId: string,
    hash: string,
    meta: CommandMeta,
  ): Promise<'has' | 'free' | 'unsettled'> {
    const ends = performance.now() + PLACE_GRACE_MS;
    for (;;) {
      const { state: memory } = await this.decisions.load(memoryDecider, memoryId);
      if (isGone(memory)) {
        await this.release(owner, [memoryId], null, meta);
        return 'free';
      }
      const { state: bucket } = await this.decisions.load(bucketDecider, bucketIdOf(owner));
      const place = bucket.places.get(memoryId);
      if (place === undefined || !hasText(place, hash)) return 'free';
      const isKept = place.hash === hash && place.edits.isEmpty();
      if (memory.status === 'saved' && (memory.hash === hash || isKept)) return 'has';
      if (performance.now() >= ends) return 'unsettled';
      await pause(POLL_MS);
    }
  }

  /**
   * A memory once nobody is at saving it any more, or what it is at the end of the grace, which began `since` milliseconds ago: now where that
   * is in the future, by a clock that was ahead.
   */
  async settled(memoryId: string, isPending: (memory: Memory) => boolean, since = 0): Promise<Memory> {
    const ends = performance.now() + PLACE_GRACE_MS - Math.max(since, 0);
    for (;;) {
      const { state } = await this.decisions.load(memoryDecider, memoryId);
      if (!isPending(state) || performance.now() >= ends) return state;
      await pause(POLL_MS);
    }
  }

  /** A repeat must look at the bucket again, not be answered as decided: its place may have been given back since. */
  private step(meta: CommandMeta): CommandMeta {
    return { ...stepOf(meta, 'place'), commandId: this.ids.next() };
  }
}
