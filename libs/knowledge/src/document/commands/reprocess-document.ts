import { type CommandMeta, Decisions, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { documentDecider } from '../document.decider';

/** Ingests a document again. Without `force`, only if that could change anything. */
export class ReprocessDocument extends Command<Receipt> {
  constructor(
    readonly documentId: string,
    readonly force: boolean,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(ReprocessDocument)
export class ReprocessDocumentHandler implements ICommandHandler<ReprocessDocument> {
  constructor(private readonly decisions: Decisions) {}

  execute({ documentId, force, meta }: ReprocessDocument): Promise<Receipt> {
    return this.decisions.transact(documentDecider, documentId, { type: 'Reprocess', force }, meta);
  }
}
