import { COORDINATION_STORE, type CoordinationStore } from '@app/coordination';
import { type Clock, CLOCK, Decisions, idOf, isErased, reactionTo, type RecordedEvent, stepOf } from '@app/kernel';
import { type Policy, PolicyHandler } from '@app/projecting';
import { Inject } from '@nestjs/common';
import type { PassagesCommand } from '../document/document.commands';
import { documentDecider, type DocumentState } from '../document/document.decider';
import type { DocumentEvent } from '../document/document.events';
import { isLeftOut } from '../document/document-reindex';
import { retitlingOf } from '../document/serving';
import { INDEXED_DOCUMENTS, type IndexedDocuments } from '../lookups';
import { LaggingDocuments } from '../reindex/lagging-documents';
import { unlessDeleted } from '../reindex/reindex-document';
import { levelOf, reindexId } from '../reindex/reindex-plan';
import { INSTANCE, reindexDecider } from '../reindex/reindex.decider';
import type { ReindexEvent } from '../reindex/reindex.events';

type Made = RecordedEvent & Extract<DocumentEvent, { type: 'DocumentReindexEmbedded' | 'DocumentReindexed' }>;

/**
 * Applies the decision about a re-index to each document: swaps its passages, swaps them back, or drops the standby
 * ones. At any time, each document has either the old or the new passages. If a job was already cancelled when it made
 * passages of a document, their own event is handled, and they are dropped. A repeat after a crash changes nothing.
 */
@PolicyHandler()
export class ApplyReindex implements Policy {
  readonly name = 'apply-reindex';
  readonly types = [
    'ReindexStarted',
    'ReindexCancelled',
    'ReindexSwapped',
    'ReindexRolledBack',
    'DocumentReindexEmbedded',
    'DocumentReindexed',
  ];

  private readonly lagging: LaggingDocuments;

  constructor(
    private readonly decisions: Decisions,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(INDEXED_DOCUMENTS) private readonly documents: IndexedDocuments,
    @Inject(COORDINATION_STORE) coordination: CoordinationStore,
  ) {
    this.lagging = new LaggingDocuments(coordination);
  }

  async react(event: RecordedEvent): Promise<void> {
    const id = idOf(event.context.stream);
    if (event.type === 'DocumentReindexEmbedded' || event.type === 'DocumentReindexed')
      return this.dropUnlessWanted(id, event as Made);
    const started = await this.decisions.loadAt(reindexDecider, id, event.context.revision);
    const place = started?.status === 'none' ? await this.cancelled(id, event) : started;
    if (place === undefined || place.status === 'none') return;
    const isStart = event.type === 'ReindexStarted';
    if (isStart && (await this.isReplaced(id, event.data['jobId']))) return;
    const decided = commandOf(event as RecordedEvent<ReindexEvent>);
    const meta = reactionTo(event, this.name, this.clock.now());
    for await (const page of this.documents(levelOf(place), event.context.position))
      for (const { documentId } of page)
        await unlessDeleted(async () => {
          const later = isStart ? await this.laterBeside(id, documentId, event) : [];
          const command = later.length === 0 ? decided : { ...decided, later };
          await this.decisions.transact(documentDecider, documentId, command, stepOf(meta, documentId));
          if (command.type === 'SwapPassages') await this.noteLeftOut(id, documentId, command);
        });
  }

  /** Whether a later job of the place has begun, whose own event drops what others left. */
  private async isReplaced(id: string, jobId: unknown): Promise<boolean> {
    const { state: now } = await this.decisions.load(reindexDecider, id);
    return now.status !== 'none' && now.jobId !== jobId;
  }

  /** Jobs of other levels for a document that continued after the start of this one, which may be handled late. */
  private async laterBeside(id: string, documentId: string, { context }: RecordedEvent): Promise<readonly string[]> {
    const later: string[] = [];
    for (const place of await this.placesOf(documentId)) {
      if (place === id) continue;
      const { state: job, position } = await this.decisions.load(reindexDecider, place);
      if (job.status !== 'none' && position !== null && position > context.position) later.push(job.jobId);
    }
    return later;
  }

  /** Ids of the places whose jobs are about a document. */
  private async placesOf(documentId: string): Promise<readonly string[]> {
    const { state } = await this.decisions.load(documentDecider, documentId);
    if (!('scope' in state)) return [];
    const { scope, agentId, spaceId } = state;
    return [...(scope === 'global' ? [] : [reindexId({ scope, agentId, spaceId })]), INSTANCE];
  }

  /** What was edited or renamed since its passages were made has them made again, and then follows. */
  private async noteLeftOut(
    id: string,
    documentId: string,
    { jobId, to }: Extract<PassagesCommand, { type: 'SwapPassages' }>,
  ): Promise<void> {
    const { state } = await this.decisions.load(documentDecider, documentId);
    if (isLeftOut(state, jobId, to)) await this.lagging.add({ reindexId: id, documentId });
  }

  private async dropUnlessWanted(documentId: string, event: Made): Promise<void> {
    const { jobId } = event.data;
    for (const id of await this.placesOf(documentId)) {
      const { state: job } = await this.decisions.load(reindexDecider, id);
      // What was swapped since is swapped, or replaced, by its own event, which may be still to come here.
      if (job.swappedJobs.has(jobId) || (job.status !== 'none' && job.jobId === jobId)) return;
    }
    if (await this.isRetitling(documentId, event)) return;
    const meta = stepOf(reactionTo(event, this.name, this.clock.now()), documentId);
    const discard = { type: 'DiscardReindexed', jobId, of: 'job' } as const;
    await unlessDeleted(() => this.decisions.transact(documentDecider, documentId, discard, meta));
  }

  /** Whether the batch has vectors for the name that the document had then: no re-index made it. */
  private async isRetitling(documentId: string, { data: { jobId }, context: { revision } }: Made): Promise<boolean> {
    const { state: now } = await this.decisions.load(documentDecider, documentId);
    const isOf = (state: DocumentState | undefined): boolean =>
      state !== undefined && 'name' in state && !isErased(state.name) && retitlingOf(documentId, state.name) === jobId;
    return isOf(now) || isOf(await this.decisions.loadAt(documentDecider, documentId, revision));
  }

  /** The job as it stood before it was cancelled. */
  private cancelled(id: string, { context }: RecordedEvent) {
    return this.decisions.loadAt(reindexDecider, id, context.revision - 1);
  }
}

const commandOf = ({ type, data: { jobId } }: RecordedEvent<ReindexEvent>): PassagesCommand => {
  switch (type) {
    case 'ReindexSwapped':
      return { type: 'SwapPassages', jobId, to: 'new' };
    case 'ReindexRolledBack':
      return { type: 'SwapPassages', jobId, to: 'earlier' };
    default:
      return { type: 'DiscardReindexed', jobId, of: type === 'ReindexStarted' ? 'others' : 'job' };
  }
};
