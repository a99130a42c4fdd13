import { CONFIG, type Config, Decisions, idOf, type RecordedEvent } from '@app/kernel';
import { type Policy, PolicyHandler } from '@app/projecting';
import { Inject } from '@nestjs/common';
import { documentDecider } from '../document/document.decider';
import { IngestionWorker } from '../ingestion/ingestion-worker';

/**
 * Passes documents to the worker as soon as they wait, if this process is a worker. The queue view holds those that it
 * cannot take now, and those for other workers.
 */
@PolicyHandler()
export class IngestWaitingDocuments implements Policy {
  readonly name = 'ingest-waiting-documents';
  readonly types = ['DocumentAdded', 'DocumentContentReplaced', 'DocumentReprocessRequested'];

  constructor(
    @Inject(IngestionWorker) private readonly worker: Pick<IngestionWorker, 'offer'>,
    private readonly decisions: Decisions,
    @Inject(CONFIG) private readonly config: Pick<Config, 'ROLES'>,
  ) {}

  async react({ context }: RecordedEvent): Promise<void> {
    if (!this.config.ROLES.includes('worker')) return;
    const documentId = idOf(context.stream);
    const { state } = await this.decisions.load(documentDecider, documentId);
    if ('askedBy' in state)
      this.worker.offer(documentId, { spaceId: state.spaceId ?? '', userId: state.askedBy.userId });
  }
}
