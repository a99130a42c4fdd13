import { EVENT_LOG, type EventLog } from '@app/event-log';
import { type CommandMeta, Decisions, type Receipt, stepOf } from '@app/kernel';
import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { documentDecider } from '../../document/document.decider';
import { mapConcurrently } from '../../document/map-concurrently';
import { SYNCED_DOCUMENTS, type SyncedDocumentsOf } from '../../lookups';
import type { SourceFile } from '../source-paths';
import { type ConfirmedDeletions, type SyncedDocument, type SyncPlan, syncPlan } from '../sync-plan';

export interface SourceListing {
  readonly agentId: string;
  readonly sourceId: string;
  /** All files of the source. */
  readonly files: readonly SourceFile[];
  readonly confirmDeletions: ConfirmedDeletions;
  /** Only says what would be done. */
  readonly dryRun: boolean;
}

export interface SyncOutcome {
  readonly plan: SyncPlan;
  /** Of the documents that were deleted. */
  readonly receipts: readonly Receipt[];
}

/** Compares a source with its documents, and deletes those whose files are gone. Contents follow by `PutSyncedFile`. */
export class SyncSource extends Command<SyncOutcome> {
  constructor(
    readonly listing: SourceListing,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(SyncSource)
export class SyncSourceHandler implements ICommandHandler<SyncSource> {
  constructor(
    private readonly decisions: Decisions,
    @Inject(EVENT_LOG) private readonly log: Pick<EventLog, 'head'>,
    @Inject(SYNCED_DOCUMENTS) private readonly documentsOf: SyncedDocumentsOf,
  ) {}

  async execute({ listing, meta }: SyncSource): Promise<SyncOutcome> {
    const { agentId, sourceId, files, confirmDeletions, dryRun } = listing;
    const head = await this.log.head();
    const documents = head === null ? [] : await this.documentsOf(agentId, sourceId, head);
    const plan = syncPlan(files, documents, confirmDeletions);
    if (dryRun) return { plan, receipts: [] };
    const done = await mapConcurrently(plan.vanished, async (document) => ({
      document,
      receipt: await this.delete(document, meta),
    }));
    const gone = done.flatMap(({ document, receipt }) => (receipt === undefined ? [] : [{ document, receipt }]));
    return {
      plan: { ...plan, vanished: gone.map(({ document }) => document) },
      receipts: gone.map(({ receipt }) => receipt),
    };
  }

  /** Undefined where the file was sent again since the plan was made: its document stays. */
  private async delete({ documentId, contentHash }: SyncedDocument, meta: CommandMeta): Promise<Receipt | undefined> {
    const command = { type: 'Delete' as const, contentHash };
    const receipt = await this.decisions.transact(
      documentDecider,
      documentId,
      command,
      stepOf(meta, `sync/${documentId}`),
    );
    if (receipt.eventIds.length > 0) return receipt;
    const { state } = await this.decisions.load(documentDecider, documentId);
    return state.status === 'Deleted' ? receipt : undefined;
  }
}
