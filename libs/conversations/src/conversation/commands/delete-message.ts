import { type CommandMeta, Decisions, type Receipt, unlessLeft } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Turns } from '../../answering/turns';
import type { Participants } from '../conversation.commands';
import { conversationDecider } from '../conversation.decider';

/** Deletes a message permanently, also an answer under way, which ends. A question goes with the answer that is under way to it. */
export class DeleteMessage extends Command<Receipt> {
  constructor(
    readonly participants: Participants,
    readonly conversationId: string,
    readonly messageId: string,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(DeleteMessage)
export class DeleteMessageHandler implements ICommandHandler<DeleteMessage> {
  constructor(
    private readonly decisions: Decisions,
    private readonly turns: Turns,
  ) {}

  async execute({ participants, conversationId, messageId, meta }: DeleteMessage): Promise<Receipt> {
    const stop = await this.turns.stopper(conversationId, messageId);
    const receipt = await this.decisions.transact(
      conversationDecider,
      conversationId,
      { type: 'DeleteMessage', ...participants, messageId },
      meta,
    );
    // They find themselves gone in the end.
    await unlessLeft(stop);
    return receipt;
  }
}
