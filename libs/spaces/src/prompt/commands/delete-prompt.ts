import { type CommandMeta, Decisions, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { promptDecider } from '../prompt.decider';

/** Deletes a prompt permanently. */
export class DeletePrompt extends Command<Receipt> {
  constructor(
    readonly promptId: string,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(DeletePrompt)
export class DeletePromptHandler implements ICommandHandler<DeletePrompt> {
  constructor(private readonly decisions: Decisions) {}

  execute({ promptId, meta }: DeletePrompt): Promise<Receipt> {
    return this.decisions.transact(promptDecider, promptId, { type: 'Delete' }, meta);
  }
}
