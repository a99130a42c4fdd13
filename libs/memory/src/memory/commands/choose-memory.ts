import {
  type CommandMeta,
  Decisions,
  isErased,
  type Receipt,
  reject,
  isDomainError,
  revealed,
  unlessLeft,
} from '@app/kernel';
import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { bucketOf, Places } from '../../bucket/places';
import { ACCESS_TO_AGENTS, type AccessToAgents, MEMORY_RULES, type RulesOfAgents } from '../../lookups';
import { type SafeText, ScreenedTexts } from '../../screened-texts';
import { Forgetting } from '../forgetting';
import { assertMayChange, assertOn, assertUses, type MemoryCaller, visibleMemory } from '../memory-access';
import { memoryDecider, type MemoryPlace, type ProposedMemory } from '../memory.decider';

/** What a user makes of a proposal: `save-for-me` makes one for all a personal one. */
export type MemoryChoice = 'confirm' | 'save-for-me' | 'discard';

/** The memory that a choice left. */
export interface ChosenMemory {
  /** Another one where that has the text: the proposal is discarded then. */
  readonly memoryId: string;
  readonly receipt: Receipt;
}

/** Decides what becomes of a proposal of the caller. Rejects `conflict` for a second choice, `memory_flagged`, `memory_disabled` and `memory_full`; a full bucket leaves it proposed. */
export class ChooseMemory extends Command<ChosenMemory> {
  constructor(
    readonly caller: MemoryCaller,
    readonly agentId: string,
    readonly memoryId: string,
    readonly choice: MemoryChoice,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(ChooseMemory)
export class ChooseMemoryHandler implements ICommandHandler<ChooseMemory> {
  constructor(
    private readonly decisions: Decisions,
    private readonly places: Places,
    private readonly texts: ScreenedTexts,
    private readonly forgetting: Forgetting,
    @Inject(MEMORY_RULES) private readonly rulesOf: RulesOfAgents,
    @Inject(ACCESS_TO_AGENTS) private readonly accessTo: AccessToAgents,
  ) {}

  async execute({ caller, agentId, memoryId, choice, meta }: ChooseMemory): Promise<ChosenMemory> {
    const { state } = await this.decisions.load(memoryDecider, memoryId);
    // Whose choice it was is told, and a request that is sent again gets its receipt; others learn nothing.
    if (state.status === 'absent' || state.agentId !== agentId || state.userId !== caller.userId)
      return reject('not_found', { kind: 'memory', id: memoryId });
    if (state.status === 'flagged') return reject('memory_flagged');
    if (state.status !== 'proposed' || choice === 'discard')
      return {
        memoryId,
        receipt: await this.choose(memoryId, state, { type: 'Discard', reason: 'discarded' }, choice, meta),
      };
    return this.save(state, choice, caller, meta);
  }

  private async save(
    proposal: ProposedMemory,
    choice: 'confirm' | 'save-for-me',
    caller: MemoryCaller,
    meta: CommandMeta,
  ): Promise<ChosenMemory> {
    const { memoryId, agentId, userId, text } = proposal;
    const kind = choice === 'save-for-me' ? 'personal' : proposal.kind;
    if (isErased(text)) return reject('not_found', { kind: 'memory', id: memoryId });
    if (Date.parse(proposal.expiresAt) <= meta.now.getTime()) reject('conflict', { reason: 'memory_chosen' });
    // Who may not use the Agent any more writes nothing for those who do.
    if (kind === 'shared') assertUses(agentId, caller);
    assertOn(kind, await this.rulesOf(agentId));
    const replaces = kind === proposal.kind ? await this.replacedBy(proposal, caller) : null;
    const { screening } = await this.safe(proposal, text, meta);
    // Screening may have taken long.
    if (kind === 'shared') assertUses(agentId, { access: await this.accessTo(agentId, userId) });
    assertOn(kind, await this.rulesOf(agentId));
    return this.keep(proposal, choice, { kind, replaces, screening }, meta);
  }

  private async keep(
    proposal: ProposedMemory,
    choice: 'confirm' | 'save-for-me',
    kept: Pick<ProposedMemory, 'kind' | 'replaces' | 'screening'>,
    meta: CommandMeta,
  ): Promise<ChosenMemory> {
    const { memoryId, agentId, userId, text } = proposal;
    const { kind, replaces, screening } = kept;
    const owner = bucketOf({ agentId, userId, kind });
    const hash = this.places.hashOf(owner, revealed(text, ''));
    const use = choice;
    const command =
      choice === 'confirm'
        ? ({ type: 'Confirm', screening } as const)
        : ({ type: 'SaveForMe', hash, screening } as const);
    try {
      const receipt = await this.places.taking(owner, { memoryId, hash, replaces, use, screening }, meta, () =>
        this.choose(memoryId, proposal, command, choice, meta),
      );
      return { memoryId, receipt: await this.forgetting.replacedBy({ replaces }, receipt, meta) };
    } catch (error) {
      if (!isDomainError(error, 'conflict') || error.facts['reason'] !== 'equal_memory') throw error;
      const equal = String(error.facts['id']);
      const held = await this.places.holding(owner, equal, hash, meta);
      if (held === 'free') return this.keep(proposal, choice, kept, meta);
      // Nothing has the text yet: the proposal is all that there is of it.
      if (held === 'unsettled') return reject('conflict', { reason: 'concurrent_changes' });
      const discard = { type: 'Discard', reason: 'equal' } as const;
      const receipt = await this.choose(memoryId, proposal, discard, choice, meta);
      return { memoryId: equal, receipt: await this.forgetting.replacedBy({ replaces }, receipt, meta) };
    }
  }

  /** A proposal that is flagged now is gone. */
  private safe(
    { memoryId, agentId, userId, kind }: ProposedMemory,
    text: string,
    meta: CommandMeta,
  ): Promise<SafeText> {
    return this.texts.safe(text, memoryId, { agentId, userId, kind, during: 'choice' }, meta);
  }

  private async choose(
    memoryId: string,
    place: MemoryPlace,
    command: Parameters<typeof memoryDecider.decide>[0],
    choice: MemoryChoice,
    meta: CommandMeta,
  ): Promise<Receipt> {
    const receipt = await this.decisions.transact(memoryDecider, memoryId, command, meta);
    if (receipt.eventIds.length === 0 && !receipt.repeated)
      return reject('conflict', { reason: 'memory_chosen', choice });
    await unlessLeft(() => this.forgetting.freePlaces([memoryId], place, meta, 'proposed'));
    return receipt;
  }

  /** The memory that a proposal takes the place of; null where it is gone meanwhile: then there is nothing to delete. Rejects as `visibleMemory` and `assertMayChange`. */
  private async replacedBy({ agentId, replaces }: ProposedMemory, caller: MemoryCaller): Promise<string | null> {
    if (replaces === null) return null;
    const { state } = await this.decisions.load(memoryDecider, replaces);
    if (state.status === 'deleted') return null;
    assertMayChange(await visibleMemory(this.decisions, agentId, replaces, caller, 'replaces'), caller);
    return replaces;
  }
}
