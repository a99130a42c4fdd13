import { type CommandMeta, Decisions, type Receipt, reject } from '@app/kernel';
import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { bucketOf, Places } from '../../bucket/places';
import { ACCESS_TO_AGENTS, type AccessToAgents, MEMORY_RULES, type RulesOfAgents } from '../../lookups';
import { ScreenedTexts } from '../../screened-texts';
import { assertMayChange, assertOn, type MemoryCaller, visibleMemory } from '../memory-access';
import { memoryDecider } from '../memory.decider';

/** Changes the text of a saved memory; without one, it stays as it is. Rejects `memory_flagged` and leaves it as it is; `conflict` for a proposal, and for a text that another one has. */
export class UpdateMemory extends Command<Receipt> {
  constructor(
    readonly caller: MemoryCaller,
    readonly agentId: string,
    readonly memoryId: string,
    readonly text: string | undefined,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(UpdateMemory)
export class UpdateMemoryHandler implements ICommandHandler<UpdateMemory> {
  constructor(
    private readonly decisions: Decisions,
    private readonly places: Places,
    private readonly texts: ScreenedTexts,
    @Inject(MEMORY_RULES) private readonly rulesOf: RulesOfAgents,
    @Inject(ACCESS_TO_AGENTS) private readonly accessTo: AccessToAgents,
  ) {}

  async execute({ caller, agentId, memoryId, text, meta }: UpdateMemory): Promise<Receipt> {
    const memory = await visibleMemory(this.decisions, agentId, memoryId, caller);
    assertMayChange(memory, caller);
    if (memory.status === 'proposed') return reject('conflict', { reason: 'memory_proposed' });
    if (text === undefined) return this.decisions.transact(memoryDecider, memoryId, { type: 'Repeat' }, meta);
    assertOn(memory.kind, await this.rulesOf(agentId));
    const { kind } = memory;
    const place = { agentId, userId: caller.userId, kind };
    const safe = await this.texts.safe(text, memoryId, { ...place, during: 'edit' }, meta);
    // Screening may have taken long.
    const now = { ...caller, access: await this.accessTo(agentId, caller.userId) };
    assertMayChange(await visibleMemory(this.decisions, agentId, memoryId, now), now);
    assertOn(kind, await this.rulesOf(agentId));
    const owner = bucketOf(memory);
    const hash = this.places.hashOf(owner, safe.text);
    const { screening } = safe;
    return this.places.editing(owner, { memoryId, hash, screening }, meta, (edits) =>
      this.decisions.transact(memoryDecider, memoryId, { type: 'Edit', ...safe, hash, edits }, meta),
    );
  }
}
