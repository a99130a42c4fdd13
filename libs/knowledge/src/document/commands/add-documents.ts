import { type CommandMeta, Decisions, deriveId, insistently, isDomainError, type Receipt, stepOf, Unavailable } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Bodies, type StoredBody } from '../bodies';
import { documentDecider } from '../document.decider';
import type { DocumentScope } from '../document.events';

export interface NewDocument {
  readonly scope: DocumentScope;
  /** Null for global documents. */
  readonly spaceId: string | null;
  /** Null unless the document is an Agent's own. */
  readonly agentId: string | null;
  readonly name: string;
  readonly mimeType: string;
  readonly provider: 'upload' | 'inline';
  readonly tagIds: readonly string[];
  /** Stored under `addedDocumentId(meta, index)`. */
  readonly body: StoredBody;
}

/** The id of the n-th document that a command adds. */
export const addedDocumentId = (meta: CommandMeta, index: number): string => deriveId(meta.commandId, `document/${index}`);

/** Adds documents, at least one: all of them, or none. Their ingestion follows. Answers the last one's receipt. */
export class AddDocuments extends Command<Receipt> {
  constructor(
    readonly documents: readonly NewDocument[],
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(AddDocuments)
export class AddDocumentsHandler implements ICommandHandler<AddDocuments> {
  constructor(
    private readonly decisions: Decisions,
    private readonly bodies: Bodies,
  ) {}

  async execute({ documents, meta }: AddDocuments): Promise<Receipt> {
    const receipts = await this.addAll(documents, meta);
    // Only now: a body that cannot be removed is no reason to withdraw what was added.
    await this.bodies.discard(documents.filter((_, index) => receipts[index]?.repeated === true).map(({ body }) => body));
    return receipts.at(-1) as Receipt;
  }

  private async addAll(documents: readonly NewDocument[], meta: CommandMeta): Promise<readonly Receipt[]> {
    const receipts: Receipt[] = [];
    try {
      for (const [index, document] of documents.entries()) receipts.push(await this.add(document, index, meta));
      return receipts;
    } catch (error) {
      // One alone is there or not, and a repeat of its command finds it. Of several the one that failed goes too: what became of its write may not be known.
      if (documents.length > 1) await this.withdraw(receipts.length + 1, meta, error);
      await this.bodies.discard(documents.slice(receipts.length).map(({ body }) => body), error);
      throw error;
    }
  }

  private add({ body, ...document }: NewDocument, index: number, meta: CommandMeta): Promise<Receipt> {
    const documentId = addedDocumentId(meta, index);
    return this.decisions.transact(documentDecider, documentId, { type: 'Add', documentId, ...document, ...body }, stepOf(meta, `document/${index}`));
  }

  /** Deletes the first documents of a command. Those that cannot be deleted now stand there: throws `Unavailable`, outcome unknown, and goes on behind that until they are gone. */
  private async withdraw(count: number, meta: CommandMeta, cause: unknown): Promise<void> {
    const removals = Array.from({ length: count }, (_, index) => () => this.remove(index, meta));
    const left = (await Promise.allSettled(removals.map((remove) => remove()))).flatMap(({ status }, index) => (status === 'rejected' ? [removals[index] as () => Promise<void>] : []));
    if (left.length === 0) return;
    for (const remove of left) void insistently(remove).catch(() => undefined);
    throw new Unavailable('log', 'some of the documents were added and could not be withdrawn', 'unknown', { cause });
  }

  private async remove(index: number, meta: CommandMeta): Promise<void> {
    try {
      await this.decisions.transact(documentDecider, addedDocumentId(meta, index), { type: 'Delete' }, stepOf(meta, `withdraw/${index}`));
    } catch (error) {
      if (!isDomainError(error, 'not_found')) throw error;
    }
  }
}
