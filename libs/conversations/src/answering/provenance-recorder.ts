import { isUnavailable } from '@app/kernel';
import { type InvocationUsage, type Models, sourceText } from '@app/models';
import type { Answer } from '../conversation/conversation.commands';
import type { Provenance, ProvenanceUntilNow } from '../conversation/provenance.schema';
import type { PausedAnswer } from '../conversation/tool-approvals';
import type { Invocation } from '../conversation/checkpoint.events';
import { bytesOf } from './answer-size';
import type { AnsweringAgent } from './answering';
import type { AnswerContext } from './compactor';
import type { DocumentCopies } from './document-copies';
import { type HeldText, heldMemories, heldSkills, heldSources } from './held-texts';
import type { RetrievedPassage } from './retriever';
import { hashOf, keptRequest } from './sent-request';
import { sourceOf } from './sources';
import type { TurnMemories } from './turn-memories';
import type { TurnSkills } from './turn-skills';

/** What an answer is made from beside what was said. */
export interface AnswerBeside {
  readonly hasImages: boolean;
  readonly skills: TurnSkills;
  readonly memories: TurnMemories;
  readonly copies: Pick<DocumentCopies, 'sealed'>;
  /** Of an answer that waited: what it was made from until then. */
  readonly paused: PausedAnswer | undefined;
}

/** Collects what an answer is made from, for later questions. */
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
    this.calls = [...context.invocations, ...(beside.paused?.invocations ?? [])];
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
    const request = await this.request(parts);
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
      chunks: this.chunks,
      checkpointId: summary?.checkpointId ?? null,
      ...(isCut ? { isCut } : {}),
      invocations: this.calls,
      ...(skills.isUnavailable ? {} : { skills: structuredClone(skills.used) as NonNullable<Provenance['skills']> }),
      memories: [...memories.references],
      memoryState: memories.state,
    };
  }

  /** Chunks from before it waited stay, even if their document was deleted since. */
  private get chunks(): Provenance['chunks'] {
    const earlier = this.beside.paused?.provenance?.chunks ?? [];
    const ranks = new Map(earlier.map(({ chunkId, rank }) => [chunkId, rank]));
    let last = Math.max(0, ...ranks.values());
    const added = this.passages.flatMap(({ documentId, documentRevision, chunks }) => {
      const isNew = chunks.filter(({ chunkId }) => !ranks.has(chunkId));
      if (isNew.length > 0) last += 1;
      return isNew.map(({ chunkId, text }) => ({
        documentId,
        documentRevision,
        chunkId,
        hash: hashOf(text),
        rank: last,
      }));
    });
    return [...earlier, ...added];
  }

  private async request(parts: Answer['parts']): Promise<Provenance['request']> {
    const { skills, memories, hasImages } = this.beside;
    const { loaded } = skills.shown;
    // Images would outlive the messages that they are attached to.
    if (this.body === undefined || hasImages) return undefined;
    const sources = await this.heldSources();
    return (
      sources &&
      keptRequest(
        this.body,
        this.context,
        [...sources, ...heldMemories(memories.lines), ...heldSkills(skills.shown)],
        loaded.map(({ place }) => place.skillId),
        bytesOf(parts),
      )
    );
  }

  /** Undefined where one is of a document that was deleted meanwhile. */
  private async heldSources(): Promise<readonly HeldText[] | undefined> {
    const texts = this.passages.map((passage, index) => ({
      documentId: passage.documentId,
      text: sourceText(sourceOf(passage, index)),
    }));
    try {
      return heldSources(texts, await this.beside.copies.sealed(texts));
    } catch (error) {
      // The answer is worth more than its request.
      if (isUnavailable(error)) return undefined;
      throw error;
    }
  }
}
