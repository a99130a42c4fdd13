import { type CommandMeta, Decisions, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { documentDecider } from '../document.decider';

/** Deletes a document permanently. */
export class DeleteDocument extends Command<Receipt> {
  constructor(
    readonly documentId: string,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(DeleteDocument)
export class DeleteDocumentHandler implements ICommandHandler<DeleteDocument> {
  constructor(private readonly decisions: Decisions) {}

  execute({ documentId, meta }: DeleteDocument): Promise<Receipt> {
    return this.decisions.transact(documentDecider, documentId, { type: 'Delete' }, meta);
  }
}
