import { type CommandMeta, Decisions, deriveId, type Receipt, stepOf } from '@app/kernel';
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
}

/** The id of the n-th document that a command adds. */
export const addedDocumentId = (meta: CommandMeta, index: number): string => deriveId(meta.commandId, `document/${index}`);

/** Adds a document whose body is stored under `addedDocumentId(meta, index)`; its ingestion follows. */
export class AddDocument extends Command<Receipt> {
  constructor(
    readonly document: NewDocument,
    readonly body: StoredBody,
    readonly index: number,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(AddDocument)
export class AddDocumentHandler implements ICommandHandler<AddDocument> {
  constructor(
    private readonly decisions: Decisions,
    private readonly bodies: Bodies,
  ) {}

  async execute({ document, body, index, meta }: AddDocument): Promise<Receipt> {
    const documentId = addedDocumentId(meta, index);
    const receipt = await this.decisions.transact(documentDecider, documentId, { type: 'Add', documentId, ...document, ...body }, stepOf(meta, `document/${index}`));
    if (receipt.repeated) await this.bodies.discard([body]);
    return receipt;
  }
}
