import { type CommandMeta, Decisions, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { promptDecider, type PromptFields } from '../prompt.decider';

/** Changes the fields given. */
export class UpdatePrompt extends Command<Receipt> {
  constructor(
    readonly promptId: string,
    readonly fields: Partial<PromptFields>,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(UpdatePrompt)
export class UpdatePromptHandler implements ICommandHandler<UpdatePrompt> {
  constructor(private readonly decisions: Decisions) {}

  execute({ promptId, fields, meta }: UpdatePrompt): Promise<Receipt> {
    return this.decisions.transact(promptDecider, promptId, { type: 'Update', fields }, meta);
  }
}
