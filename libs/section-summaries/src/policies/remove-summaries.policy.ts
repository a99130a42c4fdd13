import { BLOBS, type Blobs } from '@app/blobs';
import { EVENT_LOG } from '@app/event-log';
import {
  type Clock,
  CLOCK,
  Decisions,
  idOf,
  isDeleted,
  type Position,
  reactionTo,
  type RecordedEvent,
  stepOf,
  type StreamReader,
} from '@app/kernel';
import { type Policy, PolicyHandler } from '@app/projecting';
import { Inject } from '@nestjs/common';
import { chunksOf } from '../building/chunks';
import { decodeHierarchy, hierarchyOf } from '../building/hierarchy';
import { SUMMARIES_OF, type SummariesOf } from '../lookups';
import { sectionSummaryDecider } from '../section-summary/section-summary.decider';
import type { SectionSummaryEvent } from '../section-summary/section-summary.events';
import { type PresentIndex, summaryIndexDecider } from '../summary-index/summary-index.decider';
import type { SummaryIndexEvent } from '../summary-index/summary-index.events';

type Of<Type extends string> = RecordedEvent & Extract<SectionSummaryEvent | SummaryIndexEvent, { type: Type }>;

/**
 * Removes what nobody may read any more: the summaries that a deleted document is part of, up to the root; those of text that a document
 * does not hold any more; those of a deleted Agent or a removed index; and those that the index which was just built does not name. One that was added when what it was made of was gone
 * already is met as its own event. Repeating it after a crash changes nothing.
 */
@PolicyHandler()
export class RemoveSummaries implements Policy {
  readonly name = 'remove-summaries';
  readonly types = [
    'DocumentDeleted',
    'DocumentIndexed',
    'AgentDeleted',
    'SectionSummaryAdded',
    'SectionSummaryRemoved',
    'SummaryIndexBuilt',
    'SummaryIndexRemoved',
  ];

  constructor(
    private readonly decisions: Decisions,
    @Inject(EVENT_LOG) private readonly log: StreamReader,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(BLOBS) private readonly blobs: Pick<Blobs, 'get' | 'remove'>,
    @Inject(SUMMARIES_OF) private readonly summaries: Pick<SummariesOf, 'source' | 'agent'>,
  ) {}

  async react(event: RecordedEvent): Promise<void> {
    const id = idOf(event.context.stream);
    switch (event.type) {
      case 'DocumentDeleted':
      case 'SectionSummaryRemoved':
        return this.remove(await this.summaries.source(id, event.context.position), event);
      case 'DocumentIndexed':
        return this.removeOutdated(event);
      case 'AgentDeleted': {
        const meta = stepOf(reactionTo(event, this.name, this.clock.now()), 'index');
        await this.decisions.transact(summaryIndexDecider, id, { type: 'Delete' }, meta);
        return this.removeOf(id, event);
      }
      case 'SectionSummaryAdded':
        return (await this.isOrphaned(id, event as Of<'SectionSummaryAdded'>)) ? this.remove([id], event) : undefined;
      case 'SummaryIndexBuilt':
        return this.removeUnnamed(event as Of<'SummaryIndexBuilt'>);
      default: {
        const { agentId, build, blobs } = (event as Of<'SummaryIndexRemoved'>).data;
        await this.removeOf(agentId, event, (made) => made.build <= build);
        await this.blobs.remove(blobs);
      }
    }
  }

  /** Leaves what a running build makes: it begins again where a document changed under it, and what it does not name then goes. */
  private async removeOutdated(event: RecordedEvent): Promise<void> {
    const documentId = idOf(event.context.stream);
    const made = await this.summaries.source(documentId, event.context.position);
    if (made.length === 0) return;
    const passages = String(event.data['passages']);
    const chunks = await chunksOf(this.blobs, { documentId, name: '', passages });
    // Indexed again, or deleted, by an event that is still to come here.
    if (chunks === undefined || (await this.isIndexedAgain(event))) return;
    const held = new Set(chunks.map(({ key }) => key));
    const outdated: string[] = [];
    for (const summaryId of made)
      if (await this.isOutdated(summaryId, { documentId, held, by: event.context.position })) outdated.push(summaryId);
    return this.remove(outdated, event);
  }

  private async isIndexedAgain({ context: { stream, revision } }: RecordedEvent): Promise<boolean> {
    const later = await this.log.readStream(stream, { from: revision + 1 });
    return later.some(({ type }) => type === 'DocumentIndexed');
  }

  private async isOutdated(
    summaryId: string,
    {
      documentId,
      held,
      by,
    }: { readonly documentId: string; readonly held: ReadonlySet<string>; readonly by: Position },
  ): Promise<boolean> {
    const { state: summary, position } = await this.decisions.load(sectionSummaryDecider, summaryId);
    // One that was added since is its build's: this event may be met late, and the text be another again.
    if (summary.status !== 'present' || position === null || position > by) return false;
    const { state: index } = await this.decisions.load(summaryIndexDecider, summary.agentId);
    if (index.status !== 'present') return false;
    const node = (await hierarchyOf(this.blobs, index)).nodes.find(({ id }) => id === summaryId);
    return node?.chunks.some((chunk) => chunk.documentId === documentId && !held.has(chunk.key)) ?? false;
  }

  /** Leaves the summaries of a build that goes on alone: it may have begun since. */
  private async removeUnnamed(event: Of<'SummaryIndexBuilt'>): Promise<void> {
    const agentId = idOf(event.context.stream);
    const { build, hierarchy, superseded } = event.data;
    const body = await this.blobs.get(event.context.stream, hierarchy);
    // Superseded itself, or removed, by an event that is still to come here.
    if (body !== undefined) {
      const named = new Set(decodeHierarchy(body).nodes.map(({ id }) => id));
      await this.removeOf(agentId, event, (made) => made.build <= build && !named.has(made.summaryId));
    }
    await this.blobs.remove(superseded);
  }

  private async removeOf(
    agentId: string,
    event: RecordedEvent,
    isMeant: (made: { readonly summaryId: string; readonly build: number }) => boolean = () => true,
  ): Promise<void> {
    const made = await this.summaries.agent(agentId, event.context.position);
    await this.remove(
      made.filter(isMeant).map(({ summaryId }) => summaryId),
      event,
    );
  }

  private async isOrphaned(id: string, { data }: Of<'SectionSummaryAdded'>): Promise<boolean> {
    const { agentId, spaceId, build, documentIds, summaryIds } = data;
    if (
      (await isDeleted(this.log, `agent-${agentId}`, 'AgentDeleted')) ||
      (await isDeleted(this.log, `space-${spaceId}`, 'SpaceDeleted'))
    )
      return true;
    const { state: index } = await this.decisions.load(summaryIndexDecider, agentId);
    if (index.status !== 'present') return true;
    // Met late: the index that is there may name it although a rebuild has begun since, which may come to no end.
    if (build < index.since && !(await this.isNamed(id, index))) return true;
    for (const documentId of documentIds)
      if (await isDeleted(this.log, `document-${documentId}`, 'DocumentDeleted')) return true;
    for (const summaryId of summaryIds)
      if ((await this.decisions.load(sectionSummaryDecider, summaryId)).state.status === 'removed') return true;
    return false;
  }

  private async isNamed(summaryId: string, index: PresentIndex): Promise<boolean> {
    return (await hierarchyOf(this.blobs, index)).nodes.some(({ id }) => id === summaryId);
  }

  private async remove(summaryIds: readonly string[], event: RecordedEvent): Promise<void> {
    const meta = reactionTo(event, this.name, this.clock.now());
    for (const summaryId of summaryIds)
      await this.decisions.transact(sectionSummaryDecider, summaryId, { type: 'Remove' }, stepOf(meta, summaryId));
  }
}
