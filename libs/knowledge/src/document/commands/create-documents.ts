import { type CommandMeta, Decisions, type Receipt, stepOf } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { addedDocumentId, Batches } from '../batches';
import { Bodies, type StoredBody } from '../bodies';
import { documentDecider } from '../document.decider';
import type { DocumentScope } from '../document.events';

/** A document whose file is stored already. */
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

/** Adds documents, at least one: all of them, or none. Their ingestion follows. Answers the last one's receipt. */
export class CreateDocuments extends Command<Receipt> {
  constructor(
    readonly documents: readonly NewDocument[],
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(CreateDocuments)
export class CreateDocumentsHandler implements ICommandHandler<CreateDocuments> {
  constructor(
    private readonly decisions: Decisions,
    private readonly bodies: Bodies,
    private readonly batches: Batches,
  ) {}

  async execute({ documents, meta }: CreateDocuments): Promise<Receipt> {
    const receipts = await this.addAll(documents, meta);
    // Only now: a body that cannot be removed is no reason to withdraw what was added.
    await this.bodies.discard(
      documents.filter((_, index) => receipts[index]?.repeated === true).map(({ body }) => body),
    );
    return receipts.at(-1) as Receipt;
  }

  private async addAll(documents: readonly NewDocument[], meta: CommandMeta): Promise<readonly Receipt[]> {
    const receipts: Receipt[] = [];
    const add = async (): Promise<readonly Receipt[]> => {
      for (const [index, document] of documents.entries()) receipts.push(await this.add(document, index, meta));
      return receipts;
    };
    try {
      // One alone is there or not, and a repeat of its command finds it.
      return await (documents.length > 1 ? this.batches.add(documents.length, meta, add) : add());
    } catch (error) {
      await this.bodies.discard(
        documents.slice(receipts.length).map(({ body }) => body),
        error,
      );
      throw error;
    }
  }

  private add({ body, ...document }: NewDocument, index: number, meta: CommandMeta): Promise<Receipt> {
    const documentId = addedDocumentId(meta, index);
    return this.decisions.transact(
      documentDecider,
      documentId,
      { type: 'Add', documentId, ...document, ...body },
      stepOf(meta, `document/${index}`),
    );
  }
}
