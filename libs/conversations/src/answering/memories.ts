import type { AnsweringAgent } from './answering';

/** A memory as an answer is given it. */
export interface AppliedMemory {
  readonly memoryId: string;
  readonly revision: number;
  readonly kind: 'personal' | 'shared';
  /** Its place among those that are applied, from 1. */
  readonly rank: number;
  readonly tokens: number;
  readonly text: string;
}

/** The memories of an Agent that fit into an answer, or why there are none. */
export type AppliedMemories =
  | { readonly state: 'applied'; readonly memories: readonly AppliedMemory[] }
  | { readonly state: 'off' }
  | { readonly state: 'unavailable' };

/** What an Agent wants to remember. */
export interface MemoryProposal {
  readonly agent: AnsweringAgent;
  readonly userId: string;
  readonly conversationId: string;
  /** The answer in which it is proposed. */
  readonly messageId: string;
  /** A repeat proposes nothing anew. */
  readonly commandId: string;
  readonly text: string;
  readonly kind: 'personal' | 'shared';
  /** The memory that this one revises. */
  readonly replaces?: string;
  /**
   * The user's own words in the branch, the newest first, including summarised messages; without files, answers and
   * tool results.
   */
  readonly saidByUser: readonly string[];
  /** Its answer was stopped, or the call took too long: from then on nothing is saved. */
  readonly signal: AbortSignal;
}

/** What came of a proposal of the model; without `memoryId` where nothing was kept. */
export interface ProposedMemory {
  readonly memoryId?: string;
  readonly status: 'proposed' | 'saved' | 'flagged' | 'refused';
  /** For the user. */
  readonly message?: string;
}

/** Injection token of `AgentMemories`. Where nobody provides them, memory is off. */
export const AGENT_MEMORIES = Symbol('AgentMemories');

/** What Agents remember of their users. */
export interface AgentMemories {
  apply(agent: AnsweringAgent, requester: { readonly userId: string }, question: string): Promise<AppliedMemories>;
  propose(proposal: MemoryProposal): Promise<ProposedMemory>;
  /** What a memory said at a revision; undefined where it is deleted. */
  textAt(memoryId: string, revision: number): Promise<string | undefined>;
}
