import { EVENT_LOG } from '@app/event-log';
import {
  type Clock,
  CLOCK,
  Decisions,
  idOf,
  isDeleted,
  isUnavailable,
  reactionTo,
  type RecordedEvent,
  type StreamReader,
} from '@app/kernel';
import { type Policy, PolicyHandler } from '@app/projecting';
import { Inject } from '@nestjs/common';
import { MEMORIES_OF, type MemoriesOf, type MemoriesOwner } from '../lookups';
import { conversationGone } from '../memory/conversation-gone';
import { Forgetting } from '../memory/forgetting';
import { memoryDecider } from '../memory/memory.decider';
import type { MemoryEvent } from '../memory/memory.events';

type Made = RecordedEvent & Extract<MemoryEvent, { type: 'MemorySaved' | 'MemoryProposed' }>;

/**
 * Deletes the memories of an Agent, a Space or a user with it; shared ones outlive who proposed them. Those made before the deletion stand
 * in the view when it is asked; one made behind it, by a request that was under way, is met as its own event. So is what an answer
 * remembered behind the deletion of its conversation; what was there before stays, unless who deleted that had their memories from it deleted too.
 */
@PolicyHandler()
export class DeleteMemoriesOfTheDeleted implements Policy {
  readonly name = 'delete-memories-of-the-deleted';
  readonly types = [
    'AgentDeleted',
    'SpaceDeleted',
    'UserDeleted',
    'ConversationDeleted',
    'MemorySaved',
    'MemoryProposed',
  ];

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
      await this.forgetting.deleteAll((await this.isOrphaned(id, event as Made)) ? [id] : [], meta);
      return;
    }
    const memoriesOf = event.data['memoriesOf'];
    if (event.type === 'ConversationDeleted' && memoriesOf === undefined) return;
    const found = await this.memoriesOf(ownerOf(event.type, id), event.context.position);
    const unread: unknown[] = [];
    let memoryIds = found;
    if (event.type === 'UserDeleted')
      memoryIds = await this.leaving(found, async (memoryId) => !(await this.outlivesUser(memoryId)), unread);
    if (event.type === 'ConversationDeleted')
      memoryIds = await this.leaving(found, (memoryId) => this.isOf(memoryId, memoriesOf), unread);
    await this.forgetting.deleteAll(memoryIds, meta);
    if (unread.length > 0) throw unread[0];
  }

  /** Whether what a memory is of is gone. It may have been there when the memory was made: this may be met late. */
  private async isOrphaned(id: string, { data, context }: Made): Promise<boolean> {
    const { agentId, spaceId, userId, source } = data;
    const gone = await Promise.all([
      isDeleted(this.log, `agent-${agentId}`, 'AgentDeleted'),
      isDeleted(this.log, `space-${spaceId}`, 'SpaceDeleted'),
    ]);
    if (gone.some(Boolean)) return true;
    const goneAt = await conversationGone(this.log, source);
    if (goneAt !== undefined && goneAt < context.position) return true;
    const isLeaving = await isDeleted(this.log, `user-${userId}`, 'UserDeleted');
    return isLeaving && !(await this.outlivesUser(id));
  }

  /** Those that are to go. One that cannot be read keeps no other from being deleted: it is noted in `unread`. Throws where a store is away. */
  private async leaving(
    memoryIds: readonly string[],
    goes: (memoryId: string) => Promise<boolean>,
    unread: unknown[],
  ): Promise<readonly string[]> {
    const leaving: string[] = [];
    for (const memoryId of memoryIds) {
      try {
        if (await goes(memoryId)) leaving.push(memoryId);
      } catch (error) {
        if (isUnavailable(error)) throw error;
        unread.push(error);
      }
    }
    return leaving;
  }

  private async isOf(memoryId: string, userId: unknown): Promise<boolean> {
    const { state } = await this.decisions.load(memoryDecider, memoryId);
    return (state.status === 'proposed' || state.status === 'saved') && state.userId === userId;
  }

  /** Also what is gone already. */
  private async outlivesUser(memoryId: string): Promise<boolean> {
    const { state } = await this.decisions.load(memoryDecider, memoryId);
    return !(state.status === 'proposed' || (state.status === 'saved' && state.kind === 'personal'));
  }
}

const ownerOf = (type: string, id: string): MemoriesOwner => {
  if (type === 'AgentDeleted') return { agentId: id };
  if (type === 'ConversationDeleted') return { conversationId: id };
  return type === 'SpaceDeleted' ? { spaceId: id } : { userId: id };
};
