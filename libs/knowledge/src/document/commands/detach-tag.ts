import { type CommandMeta, Decisions, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { documentDecider } from '../document.decider';

/** Detaches a tag from a document. */
export class DetachTag extends Command<Receipt> {
  constructor(
    readonly documentId: string,
    readonly tagId: string,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(DetachTag)
export class DetachTagHandler implements ICommandHandler<DetachTag> {
  constructor(private readonly decisions: Decisions) {}

  execute({ documentId, tagId, meta }: DetachTag): Promise<Receipt> {
    return this.decisions.transact(documentDecider, documentId, { type: 'DetachTag', tagId }, meta);
  }
}
