import type { ChatProvider, ModelDescription, Models, Provider, Sampling } from '@app/models';
import type { Metering } from '@app/spending';
import type { Answer } from '../conversation/conversation.commands';
import type { PausedAnswer } from '../conversation/tool-approvals';
import type { RetrievedPassage, Retriever } from './retriever';
import type { AgentTools } from './tools';
import type { TurnBeginning } from './turn-beginnings';

/** The part of an Agent that its answers depend on. */
export interface AnsweringAgent {
  readonly agentId: string;
  readonly spaceId: string;
  /** Key of a chat model; null for the default one. */
  readonly model: string | null;
  readonly systemPrompt: string;
  readonly knowledgeEnabled: boolean;
  readonly sampling: Sampling;
  /** Absent where it is off; `shared`: also for all who use it. */
  readonly memory?: { readonly shared: boolean };
  /** Revisions of the Agent and of its system prompt; absent if no provenance is needed. */
  readonly revisions?: { readonly agent: number; readonly prompt: number };
}

/** Reserved tokens for the output of a step. */
export const USUAL_OUTPUT = 16_384;
/** Stops an answer on purpose. The text until then is kept. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
}

/** How an answer ended, or that it waits until calls are approved. */
export type Outcome = Omit<Answer, 'type' | 'answerId' | 'status'> &
  (
    | { readonly status: Answer['status'] }
    | ({ readonly status: 'waiting'; readonly passages: readonly RetrievedPassage[] } & Pick<
        PausedAnswer,
        'invocations' | 'began'
      >)
  );

/** What answers need of the models of the instance. */
export interface AnsweringModels extends Pick<Models, 'catalogue' | 'rates'> {
  chat(key: string | null): { readonly model: ModelDescription; readonly provider: ChatProvider };
  provider(model: ModelDescription): Pick<Provider, 'mayAnswer'>;
}

export interface AnswererParts {
  readonly models: AnsweringModels;
  readonly retriever: Retriever;
  readonly tools: AgentTools;
  /** What turns begin with that nothing is kept of. */
  readonly beginnings: { incognito(agent: AnsweringAgent, question: string): Promise<TurnBeginning> };
  readonly currency: string;
  readonly metering: Metering;
  readonly logger: { warn(facts: object, message: string): void };
}
