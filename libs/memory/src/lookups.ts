import type { Position } from '@app/kernel';
import type { SavedRow } from './applying/remembered';

/** Who sees a saved shared memory: everybody who uses its Agent. */
export const EVERYBODY = 'everybody';

/** What a memory is found by. `audience`: the user who sees it, or `EVERYBODY`. */
export type MemoriesOwner =
  | { readonly audience: string; readonly agentId: string }
  | { readonly audience: string }
  | { readonly agentId: string }
  | { readonly spaceId: string }
  | { readonly userId: string }
  | { readonly conversationId: string };

/** Injection token of `MemoriesOf`. */
export const MEMORIES_OF = Symbol('MemoriesOf');
/** Ids of the memories and proposals of an Agent, a Space, a user or from a conversation, complete up to the event at `position`; of a user also the shared ones that they proposed. */
export type MemoriesOf = (owner: MemoriesOwner, position: Position) => Promise<readonly string[]>;

/** Injection token of `OpenProposals`. */
export const OPEN_PROPOSALS = Symbol('OpenProposals');

/** A proposal that waits for its user. */
export interface OpenProposal {
  readonly memoryId: string;
  readonly expiresAt: string;
}

/** Proposals that wait: the first to lapse. */
export interface OpenProposals {
  firstToExpire(most: number): Promise<readonly OpenProposal[]>;
}

/** What an Agent may remember now. `never`: all that it remembers is personal. */
export interface MemoryRules {
  readonly personal: 'on' | 'off';
  readonly shared: 'on' | 'off' | 'never';
}

/** Injection token of `RulesOfAgents`. */
export const MEMORY_RULES = Symbol('RulesOfAgents');
/** What an Agent may remember, from its stream and its Space's: nothing where it is public, switched off or gone. */
export type RulesOfAgents = (agentId: string) => Promise<MemoryRules>;

/** Injection token of `AccessToAgents`. */
export const ACCESS_TO_AGENTS = Symbol('AccessToAgents');
/** What a user may do with an Agent now: `none` where it is not visible to them. */
export type AccessToAgents = (agentId: string, userId: string) => Promise<'none' | 'use' | 'edit'>;

/** Injection token of `SavedMemories`. */
export const SAVED_MEMORIES = Symbol('SavedMemories');
/** What an Agent remembers of a user, and on request what it shares with all, as the view has it. */
export type SavedMemories = (agentId: string, userId: string, withShared: boolean) => Promise<readonly SavedRow[]>;
