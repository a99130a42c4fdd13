import {
  type Clock,
  CLOCK,
  type CommandMeta,
  Decisions,
  idOf,
  isDomainError,
  reactionTo,
  type RecordedEvent,
} from '@app/kernel';
import { type Policy, PolicyHandler } from '@app/projecting';
import { Inject } from '@nestjs/common';
import type { BucketEvent } from '../bucket/bucket.events';
import { Places } from '../bucket/places';
import { ACCESS_TO_AGENTS, type AccessToAgents, MEMORY_RULES, type RulesOfAgents } from '../lookups';
import { Forgetting } from '../memory/forgetting';
import { assertOn, assertUses } from '../memory/memory-access';
import { type Memory, memoryDecider } from '../memory/memory.decider';
import type { MemoryEvent } from '../memory/memory.events';

type PlaceTaken = RecordedEvent & Extract<BucketEvent, { type: 'MemoryPlaceTaken' }>;
type NotSaved = RecordedEvent & Extract<MemoryEvent, { type: 'MemoryDiscarded' | 'MemoryFlagged' }>;
type MemoryDeleted = RecordedEvent & Extract<MemoryEvent, { type: 'MemoryDeleted' }>;

/** Memories are settled side by side: one that is being saved is waited for. */
const CONCURRENCY = 100;

/**
 * Keeps the places of buckets equal to the memories that are saved, and to the proposals that wait, whatever request was cut short. A place that nobody uses in time is given back,
 * and what would have used it can no longer be saved; a choice that took its place is carried out, if its user still may. What is gone, or replaced, gives its place back.
 */
@PolicyHandler()
export class SettleMemoryPlaces implements Policy {
  readonly name = 'settle-memory-places';
  readonly types = [
    'MemoryPlaceTaken',
    'MemorySaved',
    'MemoryConfirmed',
    'MemorySavedForMe',
    'MemoryEdited',
    'MemoryDeleted',
    'MemoryDiscarded',
    'MemoryFlagged',
  ];
  readonly concurrency = CONCURRENCY;

  constructor(
    private readonly decisions: Decisions,
    private readonly places: Places,
    private readonly forgetting: Forgetting,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(MEMORY_RULES) private readonly rulesOf: RulesOfAgents,
    @Inject(ACCESS_TO_AGENTS) private readonly accessTo: AccessToAgents,
  ) {}

  async react(event: RecordedEvent): Promise<void> {
    const meta = reactionTo(event, this.name, this.clock.now());
    const memoryId = idOf(event.context.stream);
    if (event.type === 'MemoryPlaceTaken') return this.settle(event as PlaceTaken, meta);
    if (event.type === 'MemoryDeleted')
      return this.forgetting.freePlaces([memoryId], (event as MemoryDeleted).data, meta);
    if (event.type === 'MemoryDiscarded' || event.type === 'MemoryFlagged')
      return this.forgetting.freePlaces([memoryId], (event as NotSaved).data, meta, 'proposed');
    // Most memories replace none.
    if (event.type === 'MemorySaved' && event.data['replaces'] === null) return;
    const { state } = await this.decisions.load(memoryDecider, memoryId);
    if (state.status === 'absent') return;
    if (event.type === 'MemoryConfirmed' || event.type === 'MemorySavedForMe')
      await this.forgetting.freePlaces([memoryId], state, meta, 'proposed');
    if (state.status !== 'saved') return;
    if (event.type === 'MemoryEdited') await this.places.note(memoryId, meta.commandId, meta);
    else if (state.replaces !== null) await this.forgetting.deleteAll([state.replaces], meta);
  }

  private async settle({ data, context }: PlaceTaken, meta: CommandMeta): Promise<void> {
    const { memoryId, use, ticket, ...owner } = data;
    if (use === 'note') return;
    const since = meta.now.getTime() - Date.parse(context.recordedAt);
    if (use === 'edit') {
      const isPending = (memory: Memory) => memory.status === 'saved' && memory.hash !== data.hash;
      if (isPending(await this.places.settled(memoryId, isPending, since)))
        // Before the text is given to others: the request may be slow, and not dead.
        await this.decisions.transact(memoryDecider, memoryId, { type: 'AbandonEdit', ticket, hash: data.hash }, meta);
      return this.places.note(memoryId, ticket, meta);
    }
    const isNew = use === 'save' || use === 'propose';
    const isPending = ({ status }: Memory): boolean => status === (isNew ? 'absent' : 'proposed');
    let memory = await this.places.settled(memoryId, isPending, since);
    if (isPending(memory)) memory = await this.end(data, context, meta);
    const held = use === 'propose' ? 'proposed' : 'saved';
    if (memory.status === held && memory.kind === data.kind) return;
    await this.places.release(owner, [memoryId], isNew ? null : ticket, meta, held);
  }

  /** Its request died, or is too slow. The text of a choice is there, that of another memory is not. */
  private async end(data: PlaceTaken['data'], context: PlaceTaken['context'], meta: CommandMeta): Promise<Memory> {
    const { memoryId, agentId, kind, use, hash, screening } = data;
    if (use === 'save' || use === 'propose') {
      const abandon = { type: 'Abandon', agentId, kind, userId: data.userId ?? '' } as const;
      await this.decisions.transact(memoryDecider, memoryId, abandon, meta);
    } else {
      const choice =
        use === 'confirm'
          ? ({ type: 'Confirm', screening } as const)
          : ({ type: 'SaveForMe', hash, screening } as const);
      try {
        // As for a request: the rights of the moment when it is saved count.
        if (kind === 'shared') await this.assertUser(memoryId, agentId);
        assertOn(kind, await this.rulesOf(agentId));
        await this.decisions.transact(memoryDecider, memoryId, choice, asSent(context, meta));
      } catch (error) {
        if (!isDomainError(error)) throw error;
      }
    }
    return (await this.decisions.load(memoryDecider, memoryId)).state;
  }

  private async assertUser(memoryId: string, agentId: string): Promise<void> {
    const { state } = await this.decisions.load(memoryDecider, memoryId);
    if (state.status === 'proposed') assertUses(agentId, { access: await this.accessTo(agentId, state.userId) });
  }
}

/** The request itself, so that it is recognised when it is sent again. */
const asSent = (context: PlaceTaken['context'], { now }: CommandMeta): CommandMeta => ({
  commandId: context.causationId ?? context.commandId,
  actor: context.actor,
  correlationId: context.correlationId,
  now,
  ...(context.commandHash === undefined ? {} : { commandHash: context.commandHash }),
  ...(context.onBehalfOf === undefined ? {} : { onBehalfOf: context.onBehalfOf }),
  ...(context.requestId === undefined ? {} : { requestId: context.requestId }),
});
