import { type CommandMeta, Decisions, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { documentDecider } from '../document.decider';

/** Attaches a tag to a document. The caller has checked that the tag exists. */
export class AttachTag extends Command<Receipt> {
  constructor(
    readonly documentId: string,
    readonly tagId: string,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(AttachTag)
export class AttachTagHandler implements ICommandHandler<AttachTag> {
  constructor(private readonly decisions: Decisions) {}

  execute({ documentId, tagId, meta }: AttachTag): Promise<Receipt> {
    return this.decisions.transact(documentDecider, documentId, { type: 'AttachTag', tagId }, meta);
  }
}
