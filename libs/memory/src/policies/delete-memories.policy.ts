import { EVENT_LOG } from '@app/event-log';
import {
  type Clock,
  CLOCK,
  Decisions,
  idOf,
  isDeleted,
  reactionTo,
  type RecordedEvent,
  type StreamReader,
} from '@app/kernel';
import { type Policy, PolicyHandler } from '@app/projecting';
import { Inject } from '@nestjs/common';
import { MEMORIES_OF, type MemoriesOf, type MemoriesOwner } from '../lookups';
import { Forgetting } from '../memory/forgetting';
import { memoryDecider } from '../memory/memory.decider';
import type { MemoryEvent } from '../memory/memory.events';

type Made = RecordedEvent & Extract<MemoryEvent, { type: 'MemorySaved' | 'MemoryProposed' }>;

/**
 * Deletes the memories of an Agent, a Space or a user with it; shared ones outlive who proposed them. Those made before the deletion stand
 * in the view when it is asked; one made behind it, by a request that was under way, is met as its own event.
 */
@PolicyHandler()
export class DeleteMemoriesOfTheDeleted implements Policy {
  readonly name = 'delete-memories-of-the-deleted';
  readonly types = ['AgentDeleted', 'SpaceDeleted', 'UserDeleted', 'MemorySaved', 'MemoryProposed'];

  constructor(
    private readonly decisions: Decisions,
    private readonly forgetting: Forgetting,
    @Inject(EVENT_LOG) private readonly log: StreamReader,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(MEMORIES_OF) private readonly memoriesOf: MemoriesOf,
  ) {}

  async react(event: RecordedEvent): Promise<void> {
    const id = idOf(event.context.stream);
    const meta = reactionTo(event, this.name, this.clock.now());
    if (event.type === 'MemorySaved' || event.type === 'MemoryProposed') {
      await this.forgetting.deleteAll(await this.orphaned(id, event as Made), meta);
      return;
    }
    const found = await this.memoriesOf(ownerOf(event.type, id), event.context.position);
    const memoryIds = event.type === 'UserDeleted' ? await this.withoutShared(found) : found;
    await this.forgetting.deleteAll(memoryIds, meta);
  }

  /** The memory, where what it is of is gone. It may have been there when the memory was made: this may be met late. */
  private async orphaned(id: string, { data: { agentId, spaceId, userId } }: Made): Promise<readonly string[]> {
    const gone = await Promise.all([
      isDeleted(this.log, `agent-${agentId}`, 'AgentDeleted'),
      isDeleted(this.log, `space-${spaceId}`, 'SpaceDeleted'),
    ]);
    if (gone.some(Boolean)) return [id];
    return (await isDeleted(this.log, `user-${userId}`, 'UserDeleted')) ? this.withoutShared([id]) : [];
  }

  private async withoutShared(memoryIds: readonly string[]): Promise<readonly string[]> {
    const left: string[] = [];
    for (const memoryId of memoryIds) {
      const { state } = await this.decisions.load(memoryDecider, memoryId);
      if (state.status === 'proposed' || (state.status === 'saved' && state.kind === 'personal')) left.push(memoryId);
    }
    return left;
  }
}

const ownerOf = (type: string, id: string): MemoriesOwner => {
  if (type === 'AgentDeleted') return { agentId: id };
  return type === 'SpaceDeleted' ? { spaceId: id } : { userId: id };
};
