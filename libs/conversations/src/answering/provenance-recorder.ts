import type { InvocationUsage, Models } from '@app/models';
import type { Answer } from '../conversation/conversation.decider';
import type { Provenance, ProvenanceUntilNow } from '../conversation/provenance.schema';
import type { Invocation } from '../conversation/checkpoint.events';
import { bytesOf } from './answer-size';
import type { AnsweringAgent } from './answering';
import type { AnswerContext } from './compactor';
import { heldMemories, heldSkills } from './held-texts';
import type { RetrievedPassage } from './retriever';
import { hashOf, keptRequest } from './sent-request';
import type { TurnMemories } from './turn-memories';
import type { TurnSkills } from './turn-skills';

/** What an answer is made from beside what was said. */
export interface AnswerBeside {
  readonly hasImages: boolean;
  readonly skills: TurnSkills;
  readonly memories: TurnMemories;
  /** Calls of models before it waited. */
  readonly earlier: readonly Invocation[];
}

/** Hears what an answer is made from, for whoever asks later. */
export class ProvenanceRecorder {
  private readonly passages: RetrievedPassage[] = [];
  private readonly calls: Invocation[];
  private body: string | undefined;

  constructor(
    private readonly agent: AnsweringAgent,
    private readonly context: AnswerContext,
    private readonly catalogue: Pick<Models['catalogue'], 'models'>,
    private readonly beside: AnswerBeside,
  ) {
    this.calls = [...context.invocations, ...beside.earlier];
  }

  /** The calls of models until now. */
  get invocations(): readonly Invocation[] {
    return this.calls;
  }

  /** What was found for it, in the order in which the model is given it. */
  found(passages: readonly RetrievedPassage[]): void {
    this.passages.push(...passages);
  }

  /** What a provider was sent; of several requests the last one stays. */
  sent(body: string): void {
    this.body = body;
  }

  /** A call of the model, with what it used. */
  called(id: string, usage: InvocationUsage): void {
    this.calls.push({ id, usage });
  }

  /** Undefined for an Agent whose revisions nobody knows. */
  async of({ model, parts }: Pick<Answer, 'model' | 'parts'>): Promise<Provenance | undefined> {
    const made = this.untilNow(model);
    if (made === undefined) return undefined;
    const { skills, memories } = this.beside;
    const { loaded } = skills.shown;
    // Images would outlive the messages that they are attached to.
    const request =
      this.body === undefined || this.beside.hasImages
        ? undefined
        : await keptRequest(
            this.body,
            this.context,
            [...heldMemories(memories.lines), ...heldSkills(skills.shown)],
            loaded.map(({ place }) => place.skillId),
            bytesOf(parts),
          );
    return { ...made, ...(request === undefined ? {} : { request }) };
  }

  /** The same without the request. */
  untilNow(model: string): ProvenanceUntilNow | undefined {
    const { revisions, systemPrompt, sampling } = this.agent;
    if (revisions === undefined) return undefined;
    const { summary, isCut } = this.context;
    const { skills, memories } = this.beside;
    return {
      agentRevision: revisions.agent,
      prompt: { revision: revisions.prompt, hash: hashOf(systemPrompt) },
      priceVersion: this.catalogue.models.get(model)?.priceVersion ?? null,
      sampling: { ...sampling },
      chunks: this.passages.flatMap(({ documentId, documentRevision, chunks }, rank) =>
        chunks.map(({ chunkId, text }) => ({
          documentId,
          documentRevision,
          chunkId,
          hash: hashOf(text),
          rank: rank + 1,
        })),
      ),
      checkpointId: summary?.checkpointId ?? null,
      ...(isCut ? { isCut } : {}),
      invocations: this.calls,
      ...(skills.isUnavailable ? {} : { skills: structuredClone(skills.used) as NonNullable<Provenance['skills']> }),
      memories: [...memories.references],
      memoryState: memories.state,
    };
  }
}
