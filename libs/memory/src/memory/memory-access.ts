import { Decisions, reject } from '@app/kernel';
import type { AccessToAgents, MemoryRules } from '../lookups';
import { memoryDecider, type ProposedMemory, type SavedMemory } from './memory.decider';
import type { MemoryKind } from './memory.events';

/** Who asks for a memory of an Agent. */
export interface MemoryCaller {
  readonly userId: string;
  /** What they may do with the Agent: `none` where it is not visible to them, any more or ever. */
  readonly access: Awaited<ReturnType<AccessToAgents>>;
}

export type LivingMemory = ProposedMemory | SavedMemory;

/** Whether somebody may see a memory: personal ones and proposals are their user's alone, saved shared ones everybody's who may use the Agent. */
export const isVisible = (
  { kind, status, userId }: { readonly kind: string; readonly status: string; readonly userId: string },
  caller: MemoryCaller,
): boolean => (kind === 'shared' && status === 'saved' ? caller.access !== 'none' : userId === caller.userId);

/** A memory of an Agent that the caller may see. Rejects `not_found` alike for unknown, deleted and foreign ones. */
export const visibleMemory = async (
  decisions: Decisions,
  agentId: string,
  memoryId: string,
  caller: MemoryCaller,
  path?: string,
): Promise<LivingMemory> => {
  const { state } = await decisions.load(memoryDecider, memoryId);
  return (state.status === 'saved' || state.status === 'proposed') &&
    state.agentId === agentId &&
    isVisible(state, caller)
    ? state
    : reject('not_found', { kind: 'memory', id: memoryId, ...(path === undefined ? {} : { path }) });
};

/** Rejects `forbidden` for a shared memory that somebody else proposed, unless the caller may edit the Agent. */
export const assertMayChange = ({ kind, userId, agentId }: LivingMemory, caller: MemoryCaller): void => {
  if (kind === 'shared' && userId !== caller.userId && caller.access !== 'edit')
    reject('forbidden', { role: 'editor', kind: 'agent', id: agentId });
};

/** Rejects `not_found` for an Agent that its caller may not use. */
export const assertUses = (agentId: string, { access }: Pick<MemoryCaller, 'access'>): void => {
  if (access === 'none') reject('not_found', { kind: 'agent', id: agentId });
};

/** Rejects `conflict` where all memories are personal, and `memory_disabled` where the Agent remembers nothing of that kind now. */
export const assertOn = (kind: MemoryKind, rules: MemoryRules): void => {
  if (kind === 'shared' && rules.shared === 'never') reject('conflict', { reason: 'personal_memories_only' });
  if (rules[kind] !== 'on') reject('memory_disabled', { kind });
};
