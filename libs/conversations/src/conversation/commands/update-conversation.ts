import { type CommandMeta, Decisions, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Participants } from '../conversation.commands';
import { conversationDecider } from '../conversation.decider';

/** Renames, archives or restores a conversation. */
export class UpdateConversation extends Command<Receipt> {
  constructor(
    readonly participants: Participants,
    readonly conversationId: string,
    readonly change: { readonly title?: string; readonly archived?: boolean },
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(UpdateConversation)
export class UpdateConversationHandler implements ICommandHandler<UpdateConversation> {
  constructor(private readonly decisions: Decisions) {}

  execute({ participants, conversationId, change, meta }: UpdateConversation): Promise<Receipt> {
    return this.decisions.transact(
      conversationDecider,
      conversationId,
      { type: 'Update', ...participants, ...change },
      meta,
    );
  }
}
