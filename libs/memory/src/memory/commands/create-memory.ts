import { EVENT_LOG } from '@app/event-log';
import {
  type CommandMeta,
  CONFIG,
  type Config,
  Decisions,
  deriveId,
  type DomainError,
  isDomainError,
  type Receipt,
  reject,
  streamOf,
  type StreamReader,
} from '@app/kernel';
import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { bucketOf, Places, waitingOf } from '../../bucket/places';
import { ACCESS_TO_AGENTS, type AccessToAgents, MEMORY_RULES, type RulesOfAgents } from '../../lookups';
import { ScreenedTexts } from '../../screened-texts';
import { conversationGone } from '../conversation-gone';
import { Forgetting } from '../forgetting';
import {
  assertMayChange,
  assertOn,
  assertUses,
  type LivingMemory,
  type MemoryCaller,
  visibleMemory,
} from '../memory-access';
import { type Memory, memoryDecider, type NewMemory } from '../memory.decider';

const DAY_MS = 24 * 60 * 60_000;

/** A memory to be made. */
export interface GivenMemory extends Pick<NewMemory, 'agentId' | 'spaceId' | 'kind' | 'origin' | 'source'> {
  readonly text: string;
  /** One that it takes the place of. */
  readonly replaces?: string | undefined;
}

/** The memory that has the text now. */
export interface CreatedMemory {
  readonly memoryId: string;
  readonly status: 'proposed' | 'saved';
  /** False where one with this text was there. */
  readonly isNew: boolean;
  readonly receipt: Receipt;
}

/**
 * Saves a personal memory, or proposes one. Answers the one that is there for a text that is saved, or waits, already; a proposal that replaces another waits all the same where it is saved. Rejects `memory_flagged`,
 * `memory_disabled`, `memory_full`, `conflict`, and `not_found` for an Agent that the user may not use and a conversation that is deleted; throws what the screener throws, and saves nothing then. Once the signal says that nobody wants it any more, it throws its reason and begins nothing.
 */
export class CreateMemory extends Command<CreatedMemory> {
  constructor(
    readonly caller: MemoryCaller,
    readonly memory: GivenMemory,
    readonly as: 'proposed' | 'saved',
    readonly meta: CommandMeta,
    readonly signal?: AbortSignal,
  ) {
    super();
  }
}

@CommandHandler(CreateMemory)
export class CreateMemoryHandler implements ICommandHandler<CreateMemory> {
  constructor(
    private readonly decisions: Decisions,
    private readonly places: Places,
    private readonly texts: ScreenedTexts,
    private readonly forgetting: Forgetting,
    @Inject(MEMORY_RULES) private readonly rulesOf: RulesOfAgents,
    @Inject(ACCESS_TO_AGENTS) private readonly accessTo: AccessToAgents,
    @Inject(CONFIG) private readonly config: Pick<Config, 'MEMORY_PROPOSAL_DAYS'>,
    @Inject(EVENT_LOG) private readonly log: StreamReader,
  ) {}

  async execute({ caller, memory: given, as, meta, signal }: CreateMemory): Promise<CreatedMemory> {
    const { userId } = caller;
    const { agentId, kind, replaces = null } = given;
    const { memoryId, known } = await this.freeId(meta);
    if (known.status === 'saved' || known.status === 'proposed') return this.repeated(known, meta);
    await this.assertAllowed(given, userId);
    if (replaces !== null) await this.assertReplaceable(given, replaces, caller);
    const place = { agentId, userId, kind };
    const safe = await this.texts.safe(given.text, memoryId, { ...place, during: 'creation' }, meta);
    await this.assertAllowed(given, userId);
    signal?.throwIfAborted();
    const hash = this.places.hashOf(bucketOf(place), safe.text);
    const { spaceId, origin, source } = given;
    const memory: NewMemory = { memoryId, agentId, spaceId, userId, kind, ...safe, hash, origin, source, replaces };
    return as === 'saved' ? this.save(memory, meta) : this.propose(memory, meta);
  }

  /** Asked again after screening, which may take long. */
  private async assertAllowed({ agentId, kind, source }: GivenMemory, userId: string): Promise<void> {
    assertUses(agentId, { access: await this.accessTo(agentId, userId) });
    assertOn(kind, await this.rulesOf(agentId));
    if (source !== null && (await conversationGone(this.log, source)) !== undefined)
      reject('not_found', { kind: 'conversation', id: source.conversationId });
  }

  private async save(memory: NewMemory, meta: CommandMeta): Promise<CreatedMemory> {
    const { memoryId, hash, replaces, screening } = memory;
    const taking = { memoryId, hash, replaces, screening, use: 'save' } as const;
    try {
      const receipt = await this.places.taking(bucketOf(memory), taking, meta, () =>
        this.decisions.transact(memoryDecider, memoryId, { type: 'Save', memory }, meta),
      );
      return {
        memoryId,
        status: 'saved',
        isNew: true,
        receipt: await this.forgetting.replacedBy(memory, receipt, meta),
      };
    } catch (error) {
      if (!isEqualMemory(error)) throw error;
      const id = String(error.facts['id']);
      if (await this.isFree(memory, id, meta)) return this.save(memory, meta);
      const there = await this.there(id);
      return { ...there, receipt: await this.forgetting.replacedBy(memory, there.receipt, meta) };
    }
  }

  /**
   * A place among those that wait is taken first, so that no more wait than may, and none twice. One that takes the place of another waits also where its
   * text is saved already: what it replaces is deleted once its user confirms that.
   */
  private async propose(memory: NewMemory, meta: CommandMeta): Promise<CreatedMemory> {
    const { memoryId, hash, screening, replaces } = memory;
    const equal = replaces === null ? await this.places.equalTo(bucketOf(memory), hash) : undefined;
    if (equal !== undefined)
      return (await this.isFree(memory, equal, meta)) ? this.propose(memory, meta) : this.there(equal);
    const expiresAt = new Date(meta.now.getTime() + this.config.MEMORY_PROPOSAL_DAYS * DAY_MS).toISOString();
    const taking = { memoryId, hash, replaces: null, screening, use: 'propose' } as const;
    try {
      const receipt = await this.places.taking(waitingOf(memory), taking, meta, () =>
        this.decisions.transact(memoryDecider, memoryId, { type: 'Propose', memory, expiresAt }, meta),
      );
      return { memoryId, status: 'proposed', isNew: true, receipt };
    } catch (error) {
      if (!isEqualMemory(error)) throw error;
      const id = String(error.facts['id']);
      const other = await this.places.settled(id, ({ status }) => status === 'absent');
      const isOver = other.status === 'proposed' && Date.parse(other.expiresAt) <= meta.now.getTime();
      if (!isOver && (other.status === 'saved' || other.status === 'proposed' || other.status === 'absent'))
        return this.there(id);
      // It waits no more, and its place is about to be given back.
      if (isOver) await this.forgetting.expire(id, other, meta.now);
      else await this.forgetting.freePlaces([id], memory, meta, 'proposed');
      return this.propose(memory, meta);
    }
  }

  /** Whether a memory has not, in the end, the text of another that its place is held for. Rejects `conflict` where that is still open. */
  private async isFree(memory: NewMemory, equal: string, meta: CommandMeta): Promise<boolean> {
    const held = await this.places.holding(bucketOf(memory), equal, memory.hash, meta);
    return held === 'unsettled' ? reject('conflict', { reason: 'concurrent_changes' }) : held === 'free';
  }

  /** The request was sent before: it is answered as it was then, if its body is the same. */
  private async repeated(memory: LivingMemory, meta: CommandMeta): Promise<CreatedMemory> {
    const { memoryId, status } = memory;
    const receipt = await this.decisions.transact(memoryDecider, memoryId, { type: 'Repeat' }, meta);
    if (status === 'proposed') return { memoryId, status, isNew: true, receipt };
    return { memoryId, status, isNew: true, receipt: await this.forgetting.replacedBy(memory, receipt, meta) };
  }

  /** The memory that has the text; one that another request is saving was waited for. */
  private async there(memoryId: string): Promise<CreatedMemory> {
    const { state: memory, revision, position } = await this.decisions.load(memoryDecider, memoryId);
    if (memory.status !== 'saved' && memory.status !== 'proposed')
      return reject('conflict', { reason: 'equal_memory', id: memoryId });
    const stream = streamOf(memoryDecider.category, memoryId);
    const receipt = { stream, revision, position: position ?? '', eventIds: [], repeated: false };
    return { memoryId, status: memory.status, isNew: false, receipt };
  }

  /** Rejects `not_found` for what the caller may not see, `forbidden` for what they may not change. */
  private async assertReplaceable({ agentId, kind }: GivenMemory, replaces: string, caller: MemoryCaller) {
    const memory = await visibleMemory(this.decisions, agentId, replaces, caller, 'replaces');
    if (memory.kind !== kind || memory.status !== 'saved')
      reject('not_found', { kind: 'memory', id: replaces, path: 'replaces' });
    assertMayChange(memory, caller);
  }

  /** The same for a repeat, unless what came of the first was given up meanwhile. */
  private async freeId(meta: CommandMeta): Promise<{ readonly memoryId: string; readonly known: Memory }> {
    for (let nth = 0; ; nth += 1) {
      const memoryId = deriveId(meta.commandId, `memory/${nth}`);
      const { state } = await this.decisions.load(memoryDecider, memoryId);
      if (state.status !== 'abandoned') return { memoryId, known: state };
    }
  }
}

const isEqualMemory = (error: unknown): error is DomainError =>
  isDomainError(error, 'conflict') && error.facts['reason'] === 'equal_memory';
