import { type CommandMeta, Decisions, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { GiveFeedback as Given } from '../conversation.commands';
import { conversationDecider } from '../conversation.decider';

/** Says what a user thinks of an answer. Rejects `not_found` for what is no answer. */
export class GiveFeedback extends Command<Receipt> {
  constructor(
    readonly conversationId: string,
    readonly feedback: Omit<Given, 'type'>,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(GiveFeedback)
export class GiveFeedbackHandler implements ICommandHandler<GiveFeedback> {
  constructor(private readonly decisions: Decisions) {}

  execute({ conversationId, feedback, meta }: GiveFeedback): Promise<Receipt> {
    return this.decisions.transact(conversationDecider, conversationId, { type: 'GiveFeedback', ...feedback }, meta);
  }
}
