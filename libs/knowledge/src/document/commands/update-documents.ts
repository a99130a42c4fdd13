import { type CommandMeta, Decisions, isDomainError, type Receipt, stepOf } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { z } from 'zod';
import { isSearchedBy, type SearchingAgent } from '../../search/retrieval';
import type { DocumentCommand } from '../document.commands';
import { documentDecider } from '../document.decider';
import type { DocumentScope } from '../document.events';
import { mapConcurrently } from '../map-concurrently';

/** Most documents that one command changes. */
export const MOST_DOCUMENTS = 1_000;

export const bulkOperation = z.enum(['addTag', 'removeTag', 'reprocess', 'forceReprocess', 'delete']);
export type BulkOperation = z.output<typeof bulkOperation>;

/** What became of one document; `code` where nothing did. */
export interface BulkResult {
  readonly documentId: string;
  readonly ok: boolean;
  readonly code?: string;
}

export interface BulkChange {
  readonly agent: SearchingAgent;
  /** The levels whose documents the caller may change. */
  readonly levels: ReadonlySet<DocumentScope>;
  readonly operation: BulkOperation;
  /** Of the Agent's Space, where the operation is about a tag. */
  readonly tagId?: string;
  /** Each once. */
  readonly documentIds: readonly string[];
}

/** `receipts`: of the documents that it changed, or had changed when it ran before. */
export interface BulkOutcome {
  readonly results: readonly BulkResult[];
  readonly receipts: readonly Receipt[];
}

/**
 * Applies one operation to many documents, each separately: a failure is reported for its document, and the others
 * continue. An Agent does not know documents that it does not search. Repeating the command finishes what a crash
 * interrupted, and reports the same for finished documents. Throws `Unavailable` if the log becomes unavailable in
 * between.
 */
export class UpdateDocuments extends Command<BulkOutcome> {
  constructor(
    readonly change: BulkChange,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(UpdateDocuments)
export class UpdateDocumentsHandler implements ICommandHandler<UpdateDocuments> {
  constructor(private readonly decisions: Decisions) {}

  async execute({ change, meta }: UpdateDocuments): Promise<BulkOutcome> {
    const receipts: Receipt[] = [];
    const results = await mapConcurrently(change.documentIds, async (documentId): Promise<BulkResult> => {
      const done = await this.changeOne(documentId, change, meta);
      if (typeof done === 'string') return { documentId, ok: false, code: done };
      receipts.push(done);
      return { documentId, ok: true };
    });
    return { results, receipts };
  }

  /** The receipt, or the code of why not. */
  private async changeOne(
    documentId: string,
    { agent, levels, operation, tagId = '' }: BulkChange,
    meta: CommandMeta,
  ): Promise<Receipt | string> {
    if (!z.uuid().safeParse(documentId).success) return 'not_found';
    const { state } = await this.decisions.load(documentDecider, documentId);
    if (state.status === 'Absent' || !isSearchedBy(agent, state)) return 'not_found';
    if (!levels.has(state.scope)) return state.status === 'Deleted' ? 'not_found' : 'forbidden';
    try {
      const step = stepOf(meta, `bulk/${documentId}`);
      const receipt = await this.decisions.transact(documentDecider, documentId, commandOf(operation, tagId), step);
      // Deleting an already deleted document is `not_found`, even if it was deleted since the lookup, unless this
      // command deleted it.
      const wasGone = operation === 'delete' && receipt.eventIds.length === 0 && !receipt.repeated;
      return wasGone ? 'not_found' : receipt;
    } catch (error) {
      if (!isDomainError(error)) throw error;
      return error.code;
    }
  }
}

const commandOf = (operation: BulkOperation, tagId: string): DocumentCommand => {
  switch (operation) {
    case 'addTag':
      return { type: 'AttachTag', tagId };
    case 'removeTag':
      return { type: 'DetachTag', tagId };
    case 'reprocess':
    case 'forceReprocess':
      return { type: 'Reprocess', force: operation === 'forceReprocess' };
    case 'delete':
      return { type: 'Delete' };
  }
};
