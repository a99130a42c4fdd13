import type { Access } from '@app/access';
import { agentDecider } from '@app/agents';
import type { AgentMemories, AppliedMemories, MemoryProposal, ProposedMemory } from '@app/conversations';
import { userDecider } from '@app/identity';
import { type Clock, CLOCK, Decisions, errorName, isDomainError, isErased, isUnavailable, LOGGER } from '@app/kernel';
import {
  type AccessToAgents,
  CreateMemory,
  memoryDecider,
  type MemoryRules,
  Remembered,
  type RulesOfAgents,
  saidByUser,
} from '@app/memory';
import { spaceDecider } from '@app/spaces';
import { Inject, Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';

const OFF: MemoryRules = { personal: 'off', shared: 'off' };

/** What an Agent may remember, from its stream and its Space's. */
export const rulesOfAgents =
  (decisions: Pick<Decisions, 'load'>): RulesOfAgents =>
  async (agentId) => {
    const { state: agent } = await decisions.load(agentDecider, agentId);
    if (agent.status !== 'present') return OFF;
    const { memoryEnabled, sharedMemoryEnabled, public: publication } = agent.version.config;
    const { state: space } = await decisions.load(spaceDecider, agent.spaceId);
    if (space.status !== 'present') return OFF;
    const isOn = memoryEnabled && !publication.enabled;
    const shared = isOn && sharedMemoryEnabled ? 'on' : 'off';
    return { personal: isOn ? 'on' : 'off', shared: agent.isPersonal || space.kind === 'personal' ? 'never' : shared };
  };

/** What users may do with Agents, by the streams of both and of their Space: nothing while they are suspended. */
export const accessToAgents =
  (access: Pick<Access, 'agentOf'>, decisions: Pick<Decisions, 'recall'>): AccessToAgents =>
  async (agentId, userId) => {
    const { state: user } = await decisions.recall(userDecider, userId);
    if (user.status !== 'active') return 'none';
    const found = await access.agentOf(userId, agentId);
    if (found === undefined) return 'none';
    return found.role === 'viewer' ? 'use' : 'edit';
  };

/** What conversations ask of memories. An answer goes on without them. */
@Injectable()
export class MemoriesOfAgents implements AgentMemories {
  constructor(
    @Inject(Decisions) private readonly decisions: Pick<Decisions, 'loadAt'>,
    private readonly remembered: Remembered,
    private readonly commands: CommandBus,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: { warn(facts: object, message: string): void },
  ) {}

  async apply(
    { agentId }: Parameters<AgentMemories['apply']>[0],
    { userId }: { readonly userId: string },
    question: string,
  ): Promise<AppliedMemories> {
    try {
      const memories = await this.remembered.for(agentId, userId, question);
      return memories === undefined ? { state: 'off' } : { state: 'applied', memories };
    } catch (error) {
      this.logger.warn({ agentId, error: errorName(error) }, 'Memories are unavailable: answering without them.');
      return { state: 'unavailable' };
    }
  }

  /** From its stream as it was: its text is gone with its key. */
  async textAt(memoryId: string, revision: number): Promise<string | undefined> {
    const memory = await this.decisions.loadAt(memoryDecider, memoryId, revision);
    return memory?.status !== 'saved' || isErased(memory.text) ? undefined : memory.text;
  }

  /**
   * A personal memory is saved at once where the user's own messages say it (`saidByUser`), and takes no other's place; everything else waits until the user
   * chooses, as said by the Agent in other words, or as content that the user did not say.
   */
  async propose({
    agent,
    userId,
    text,
    kind,
    replaces,
    saidByUser: messages,
    signal,
    ...given
  }: MemoryProposal): Promise<ProposedMemory> {
    const { agentId, spaceId } = agent;
    const { conversationId, messageId, commandId } = given;
    const said = saidByUser(text, messages);
    const origin = ({ said: 'user', paraphrased: 'agent', unsaid: 'content' } as const)[said];
    const memory = { agentId, spaceId, text, kind, origin, source: { conversationId, messageId } };
    const as = kind === 'personal' && said === 'said' && replaces === undefined ? 'saved' : 'proposed';
    const actor = `system:memories`;
    const meta = {
      commandId,
      correlationId: commandId,
      actor,
      onBehalfOf: `user:${userId}`,
      now: this.clock.now(),
    };
    try {
      // The user sees which one a proposal takes the place of, and whether they may change it is asked again when they confirm.
      const { memoryId, status } = await this.commands.execute(
        new CreateMemory(
          { userId, access: 'use' },
          { ...memory, ...(replaces === undefined ? {} : { replaces }) },
          as,
          meta,
          signal,
        ),
      );
      return { memoryId, status };
    } catch (error) {
      if (isUnavailable(error))
        return { status: 'refused', message: 'Memory not saved - it could not be checked. Try again later.' };
      if (!isDomainError(error)) throw error;
      return error.code === 'memory_flagged'
        ? { status: 'flagged', message: 'Memory not saved - flagged as unsafe.' }
        : { status: 'refused', message: REJECTIONS[error.code] ?? 'Memory not saved.' };
    }
  }
}

const REJECTIONS: Readonly<Record<string, string>> = {
  memory_full: 'Memory not saved - memory limit reached. Delete one first.',
  memory_disabled: 'Memory not saved - memory is turned off here.',
  usage_limit_exceeded: 'Memory not saved - a spend limit is reached.',
  invalid_body: 'Memory not saved - it must have 1 to 300 characters.',
  conflict: 'Memory not saved - this Agent only has personal memories, or someone changed it at the same time.',
  not_found: 'Memory not saved - the memory it replaces is gone, or you can no longer use this Agent.',
  forbidden: 'Memory not saved - you cannot change the memory it replaces.',
};
