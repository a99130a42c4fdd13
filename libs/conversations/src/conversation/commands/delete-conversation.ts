import { type CommandMeta, Decisions, type Receipt, unlessLeft } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Turns } from '../../answering/turns';
import type { Participants } from '../conversation.commands';
import { conversationDecider } from '../conversation.decider';

/** Deletes a conversation permanently, with its messages, and stops its running answers. `memories`: a policy deletes what its user saved or proposed from it, too. */
export class DeleteConversation extends Command<Receipt> {
  constructor(
    readonly participants: Participants,
    readonly conversationId: string,
    readonly meta: CommandMeta,
    readonly memories = false,
  ) {
    super();
  }
}

@CommandHandler(DeleteConversation)
export class DeleteConversationHandler implements ICommandHandler<DeleteConversation> {
  constructor(
    private readonly decisions: Decisions,
    private readonly turns: Turns,
  ) {}

  async execute({ participants, conversationId, meta, memories }: DeleteConversation): Promise<Receipt> {
    const stop = await this.turns.stopper(conversationId);
    const receipt = await this.decisions.transact(
      conversationDecider,
      conversationId,
      { type: 'Delete', ...participants, memories },
      meta,
    );
    // An answer finds the conversation gone in the end.
    await unlessLeft(stop);
    return receipt;
  }
}
