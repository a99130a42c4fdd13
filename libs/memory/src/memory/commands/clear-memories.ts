import { setImmediate as nextTurn } from 'node:timers/promises';
import { EVENT_LOG } from '@app/event-log';
import {
  type CommandMeta,
  Decisions,
  type Failure,
  isUnavailable,
  type Position,
  type Receipt,
  SomeFailed,
} from '@app/kernel';
import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { EVERYBODY, MEMORIES_OF, type MemoriesOf } from '../../lookups';
import { Forgetting, LOOKED_AT } from '../forgetting';
import { memoryDecider } from '../memory.decider';
import type { MemoryKind } from '../memory.events';

/** Which memories and proposals are deleted, of those that are the user's own. */
export type Cleared =
  /** Of one Agent, or of all. */
  | {
      readonly of: 'user';
      readonly agentId?: string | undefined;
      readonly kind?: MemoryKind | undefined;
      readonly status?: 'proposed' | 'saved' | undefined;
    }
  /** The saved shared ones of an Agent, whoever proposed them. */
  | { readonly of: 'everybody'; readonly agentId: string }
  /** All that came from a conversation. */
  | { readonly of: 'conversation'; readonly conversationId: string };

/** Deletes memories and proposals permanently. Undefined where there was none. Whether the caller may is checked before. Throws `SomeFailed` where some could not be deleted, once the others are. */
export class ClearMemories extends Command<Receipt | undefined> {
  constructor(
    readonly userId: string,
    readonly cleared: readonly Cleared[],
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(ClearMemories)
export class ClearMemoriesHandler implements ICommandHandler<ClearMemories> {
  constructor(
    private readonly decisions: Decisions,
    private readonly forgetting: Forgetting,
    @Inject(EVENT_LOG) private readonly log: { head(): Promise<Position | null> },
    @Inject(MEMORIES_OF) private readonly memoriesOf: MemoriesOf,
  ) {}

  async execute({ userId, cleared, meta }: ClearMemories): Promise<Receipt | undefined> {
    const head = await this.log.head();
    if (head === null) return undefined;
    const memoryIds: string[] = [];
    const unread: Failure[] = [];
    for (const each of cleared) {
      const found = await this.memoriesOf(ownerOf(userId, each), head);
      for (const [at, memoryId] of found.entries()) {
        if (at % LOOKED_AT === LOOKED_AT - 1) await nextTurn();
        try {
          if (await this.isCleared(memoryId, userId, each)) memoryIds.push(memoryId);
        } catch (error) {
          if (isUnavailable(error)) throw error;
          unread.push({ id: memoryId, error });
        }
      }
    }
    const { last, failures } = await this.forgetting.deleteEach(memoryIds, meta);
    const failed = [...unread, ...failures];
    if (failed.length > 0) throw new SomeFailed(failed, memoryIds.length + unread.length);
    return last;
  }

  /** The view says which may be, the log which are. */
  private async isCleared(memoryId: string, userId: string, cleared: Cleared): Promise<boolean> {
    const { state } = await this.decisions.load(memoryDecider, memoryId);
    if (state.status !== 'saved' && state.status !== 'proposed') return false;
    if (cleared.of === 'everybody') return state.status === 'saved' && state.kind === 'shared';
    if (state.userId !== userId) return false;
    if (cleared.of === 'conversation') return true;
    if (state.status === 'saved' && state.kind === 'shared') return false;
    return (
      (cleared.kind === undefined || state.kind === cleared.kind) &&
      (cleared.status === undefined || state.status === cleared.status)
    );
  }
}

const ownerOf = (userId: string, cleared: Cleared): Parameters<MemoriesOf>[0] => {
  if (cleared.of === 'conversation') return { conversationId: cleared.conversationId };
  if (cleared.of === 'everybody') return { audience: EVERYBODY, agentId: cleared.agentId };
  return { audience: userId, ...(cleared.agentId === undefined ? {} : { agentId: cleared.agentId }) };
};
