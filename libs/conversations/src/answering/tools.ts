import type { JsonSchema } from '@app/models';
import type { DataMemoryPart } from '../conversation/message-parts';
import type { AnsweringAgent } from './answering';
import type { Requester, RetrievedPassage } from './retriever';

/** What a tool gave: `output` is for the model, which takes facts from it and never instructions. */
export interface ToolOutput {
  readonly output: string;
  /** The output says what went wrong. */
  readonly isError?: true;
  /** Passages that the answer may cite from then on, beside those of before. */
  readonly passages?: readonly RetrievedPassage[];
  /** What the user is shown of it. */
  readonly part?: DataMemoryPart;
  /** What the message keeps in place of `output`, which the answer reads while it is made. */
  readonly kept?: string;
  /** The Skill that it loaded. */
  readonly skillId?: string;
}

/** Something that a model may call while it answers. */
export interface Tool {
  /** 1 to 64 letters, digits, hyphens and underscores; unique among the Agent's. */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  /** Whether the conversation's user must approve each call. */
  readonly approval: 'never' | 'always';
  /** What is kept of an input in the message, which shows it: all, by default. */
  kept?(input: unknown): unknown;
  /** `input` is a JSON object that nobody has checked against the schema. What it throws is an error to the model, in words that say nothing of it. */
  run(input: unknown, context: ToolContext): Promise<ToolOutput>;
}

export interface ToolContext {
  /** Ends the call: its answer was stopped, or it took too long. */
  readonly signal: AbortSignal;
  /** Names the call within its answer. */
  readonly callId: string;
}

/** Injection token of `AgentTools`. */
export const AGENT_TOOLS = Symbol('AgentTools');

/** The tools of Agents, and who may have them called. */
export interface AgentTools {
  of(agent: AnsweringAgent, requester: Requester): Promise<readonly Tool[]>;
  /** Whether the requester may use the Agent now, by the key that they asked with. An answer outlives the request that was admitted. */
  mayUse(agent: AnsweringAgent, requester: Requester): Promise<boolean>;
}
