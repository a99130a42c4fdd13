import { type Blobs, discardBodies } from '@app/blobs';
import { type CommandMeta, type Decisions, isUnavailable, nameId, type Receipt, revealed, streamOf } from '@app/kernel';
import {
  sectionSummaryDecider,
  type NewSummary,
  type PresentSummary,
  type SectionSummaryCommand,
} from '../section-summary/section-summary.decider';
import type { PresentIndex, RunningBuild } from '../summary-index/summary-index.decider';
import { EMBEDDED_AT_ONCE } from './estimate';
import type { ModelCalls, SummarySource } from './model-calls';

export interface SummariesParts {
  readonly decisions: Pick<Decisions, 'load' | 'transact'>;
  readonly blobs: Pick<Blobs, 'put' | 'get' | 'remove'>;
  readonly meta: () => CommandMeta;
}

/** What is to be summarised: the children in order, by id or key, and what they say, read only where it is needed. */
export interface Cluster extends Pick<NewSummary, 'level' | 'documentIds' | 'summaryIds'> {
  readonly children: readonly string[];
  readonly sources: () => Promise<readonly SummarySource[]>;
}

/** The summaries that a build makes, or finds made: by builds before it, by itself before it was killed, or by one that came to no end. */
export class Summaries {
  constructor(
    private readonly parts: SummariesParts,
    private readonly index: PresentIndex & { readonly running: RunningBuild },
    /** Summaries of the index that is there. */
    private readonly live: ReadonlySet<string>,
    private readonly calls: ModelCalls,
  ) {}

  /** The id of the summary of a cluster. One call of a model where nothing is there of the very same children. */
  async of(cluster: Cluster): Promise<string> {
    const { agentId, spaceId, since, running } = this.index;
    // What was removed never comes back: its id is used up.
    for (let number = 0; ; number += 1) {
      const id = nameId(agentId, `${since}/${number}/${cluster.children.join(',')}`);
      const { state } = await this.parts.decisions.load(sectionSummaryDecider, id);
      if (state.status === 'present' && this.isKept(id, state)) return id;
      if (state.status !== 'absent') continue;
      const { level, documentIds, summaryIds, sources } = cluster;
      const text = await this.calls.summary(running.model, await sources());
      await this.decide(id, {
        type: 'Add',
        agentId,
        spaceId,
        build: running.build,
        level,
        documentIds: [...new Set(documentIds)],
        summaryIds,
        text,
        model: running.model,
      });
      return id;
    }
  }

  /** Others are being removed: no index names them any more. */
  private isKept(id: string, { build }: PresentSummary): boolean {
    return this.live.has(id) || build > (this.index.live?.build ?? 0);
  }

  /** What a summary says; undefined if it was removed meanwhile. */
  async text(id: string): Promise<string | undefined> {
    const { state } = await this.parts.decisions.load(sectionSummaryDecider, id);
    return state.status === 'present' ? revealed<string | undefined>(state.text, undefined) : undefined;
  }

  /** The vectors of summaries. Those that have none of the present model yet are embedded, a few in one call. Those that were removed meanwhile have none. */
  async vectors(ids: readonly string[]): Promise<ReadonlyMap<string, Float32Array>> {
    const vectors = new Map<string, Float32Array>();
    const missing: { readonly id: string; readonly text: string }[] = [];
    const { embeddingModel } = this.calls;
    for (const id of ids) {
      const { state } = await this.parts.decisions.load(sectionSummaryDecider, id);
      if (state.status !== 'present') continue;
      const stored = state.vector?.model === embeddingModel ? await this.stored(id, state.vector.blob) : undefined;
      const text = revealed(state.text, '');
      if (stored !== undefined) vectors.set(id, stored);
      else if (text !== '') missing.push({ id, text });
    }
    for (let from = 0; from < missing.length; from += EMBEDDED_AT_ONCE) {
      const batch = missing.slice(from, from + EMBEDDED_AT_ONCE);
      const made = await this.calls.embeddings(batch.map(({ text }) => text));
      for (const [index, { id }] of batch.entries()) {
        const vector = Float32Array.from(made[index] ?? []);
        vectors.set(id, vector);
        await this.store(id, vector, embeddingModel);
      }
    }
    return vectors;
  }

  private async stored(id: string, blob: string): Promise<Float32Array | undefined> {
    const body = await this.parts.blobs.get(streamOf(sectionSummaryDecider.category, id), blob);
    if (body === undefined) return undefined;
    const bytes = Uint8Array.from(body);
    return new Float32Array(bytes.buffer, 0, bytes.byteLength / Float32Array.BYTES_PER_ELEMENT);
  }

  private async store(id: string, vector: Float32Array, embeddingModel: string): Promise<void> {
    const stream = streamOf(sectionSummaryDecider.category, id);
    const { spaceId } = this.index;
    const { name } = await this.parts.blobs.put(stream, Buffer.from(vector.buffer), { spaceId });
    try {
      const receipt = await this.decide(id, { type: 'Embed', vector: name, embeddingModel });
      if (receipt.eventIds.length > 0) return;
    } catch (error) {
      // An event may name it.
      if (!(isUnavailable(error) && error.outcome === 'unknown')) await discardBodies(this.parts.blobs, [name]);
      throw error;
    }
    await discardBodies(this.parts.blobs, [name]);
  }

  private decide(id: string, command: SectionSummaryCommand): Promise<Receipt> {
    return this.parts.decisions.transact(sectionSummaryDecider, id, command, this.parts.meta());
  }
}
