import {
  type CommandMeta,
  CONFIG,
  type Config,
  Decisions,
  deriveId,
  type DomainError,
  isDomainError,
  type Position,
  type Receipt,
  reject,
  stepOf,
  streamOf,
} from '@app/kernel';
import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { bucketOf, Places } from '../../bucket/places';
import { MEMORY_RULES, OPEN_PROPOSALS, type OpenProposal, type OpenProposals, type RulesOfAgents } from '../../lookups';
import { ScreenedTexts } from '../../screened-texts';
import { Forgetting } from '../forgetting';
import { assertMayChange, assertOn, type LivingMemory, type MemoryCaller, visibleMemory } from '../memory-access';
import { type Memory, memoryDecider, type NewMemory } from '../memory.decider';

const DAY_MS = 24 * 60 * 60_000;

/** A memory to be made. */
export interface GivenMemory extends Pick<NewMemory, 'agentId' | 'spaceId' | 'kind' | 'origin' | 'source'> {
  readonly text: string;
  /** One that it takes the place of. */
  readonly replaces?: string | undefined;
}

export interface CreatedMemory {
  readonly memoryId: string;
  readonly status: 'proposed' | 'saved';
  /** False where one with this text was there. */
  readonly isNew: boolean;
  readonly receipt: Receipt;
}

/**
 * Saves a personal memory, or proposes one. Answers the one that is there for a text that is saved, or waits, already. Rejects `memory_flagged`,
 * `memory_disabled`, `memory_full` and `conflict`; throws what the screener throws, and saves nothing then.
 */
export class CreateMemory extends Command<CreatedMemory> {
  constructor(
    readonly caller: MemoryCaller,
    readonly memory: GivenMemory,
    readonly as: 'proposed' | 'saved',
    readonly meta: CommandMeta,
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
    @Inject(OPEN_PROPOSALS) private readonly proposals: OpenProposals,
    @Inject(CONFIG) private readonly config: Pick<Config, 'MEMORY_PROPOSAL_DAYS'>,
  ) {}

  async execute({ caller, memory: given, as, meta }: CreateMemory): Promise<CreatedMemory> {
    const { userId } = caller;
    const { agentId, kind, replaces = null } = given;
    const { memoryId, known } = await this.freeId(meta);
    if (known.status === 'saved' || known.status === 'proposed') return this.repeated(known, meta);
    assertOn(kind, await this.rulesOf(agentId));
    if (replaces !== null) await this.assertReplaceable(given, replaces, caller);
    const place = { agentId, userId, kind };
    const safe = await this.texts.safe(given.text, memoryId, { ...place, during: 'creation' }, meta);
    assertOn(kind, await this.rulesOf(agentId));
    const hash = this.places.hashOf(bucketOf(place), safe.text);
    const { spaceId, origin, source } = given;
    const memory: NewMemory = { memoryId, agentId, spaceId, userId, kind, ...safe, hash, origin, source, replaces };
    return as === 'saved' ? this.save(memory, meta) : this.propose(memory, meta);
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
      return this.there(String(error.facts['id']), error);
    }
  }

  private async propose(memory: NewMemory, meta: CommandMeta): Promise<CreatedMemory> {
    const { memoryId, hash, kind, userId, agentId } = memory;
    const equal = await this.places.equalTo(bucketOf(memory), hash);
    if (equal !== undefined && equal !== memory.replaces) return this.there(equal);
    const most = this.places.mostOf({ kind });
    const isSame = (other: OpenProposal): boolean => other.hash === hash && other.kind === kind;
    const open = (await this.proposals.of(userId, agentId)).filter((other) => other.memoryId !== memoryId);
    const [waiting] = await this.standing(open.filter(isSame));
    if (waiting !== undefined) return this.there(waiting.memoryId);
    if (open.length >= most && (await this.standing(open)).length >= most)
      return reject('memory_full', { kind: 'proposed', limit: most });
    const expiresAt = new Date(meta.now.getTime() + this.config.MEMORY_PROPOSAL_DAYS * DAY_MS).toISOString();
    const command = { type: 'Propose', memory, expiresAt } as const;
    const receipt = await this.decisions.transact(memoryDecider, memoryId, command, meta);
    let before: readonly OpenProposal[];
    try {
      before = await this.before(memory, receipt.position, most, isSame);
    } catch (error) {
      // Where it cannot be told whether it may wait, it does not.
      await this.withdraw(memoryId, meta);
      throw error;
    }
    const same = before.find(isSame);
    if (same === undefined && before.length < most) return { memoryId, status: 'proposed', isNew: true, receipt };
    await this.withdraw(memoryId, meta);
    return same === undefined ? reject('memory_full', { kind: 'proposed', limit: most }) : this.there(same.memoryId);
  }

  /** Those that wait and came before. Of those that are made at once each meets all before it, so that no more stay than may, and none twice. */
  private async before(
    { memoryId, userId, agentId }: NewMemory,
    position: Position,
    most: number,
    isSame: (other: OpenProposal) => boolean,
  ): Promise<readonly OpenProposal[]> {
    const rivals = (await this.proposals.of(userId, agentId, position)).filter((other) => other.memoryId !== memoryId);
    if (rivals.length < most && !rivals.some(isSame)) return [];
    return (await this.standing(rivals)).filter((other) => other.position < position);
  }

  private async withdraw(memoryId: string, meta: CommandMeta): Promise<void> {
    const withdrawal = { type: 'Discard', reason: 'abandoned' } as const;
    await this.decisions.transact(memoryDecider, memoryId, withdrawal, stepOf(meta, 'withdrawn'));
  }

  /** Those that still wait, in the order of the log. */
  private async standing(proposals: readonly OpenProposal[]) {
    const found: (OpenProposal & { readonly position: Position })[] = [];
    for (const proposal of proposals) {
      const { state, position } = await this.decisions.load(memoryDecider, proposal.memoryId);
      if (state.status === 'proposed' && position !== null) found.push({ ...proposal, position });
    }
    return found.toSorted((a, b) => (a.position < b.position ? -1 : 1));
  }

  /** The request was sent before: it is answered as it was then, if its body is the same. */
  private async repeated(memory: LivingMemory, meta: CommandMeta): Promise<CreatedMemory> {
    const { memoryId, status } = memory;
    const receipt = await this.decisions.transact(memoryDecider, memoryId, { type: 'Repeat' }, meta);
    if (status === 'proposed') return { memoryId, status, isNew: true, receipt };
    return { memoryId, status, isNew: true, receipt: await this.forgetting.replacedBy(memory, receipt, meta) };
  }

  /** The memory that has the text; one that another request is saving is waited for. */
  private async there(memoryId: string, error?: DomainError): Promise<CreatedMemory> {
    const memory = await this.places.settled(memoryId, ({ status }) => status === 'absent');
    if (memory.status !== 'saved' && memory.status !== 'proposed')
      throw error ?? new Error('a memory that has a place is gone');
    const { revision, position } = await this.decisions.load(memoryDecider, memoryId);
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
