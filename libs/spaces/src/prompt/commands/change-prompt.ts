import { type CommandMeta, Decisions, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { promptDecider, type PromptFields } from '../prompt.decider';

/** Changes the fields given. */
export class ChangePrompt extends Command<Receipt> {
  constructor(
    readonly promptId: string,
    readonly fields: Partial<PromptFields>,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(ChangePrompt)
export class ChangePromptHandler implements ICommandHandler<ChangePrompt> {
  constructor(private readonly decisions: Decisions) {}

  execute({ promptId, fields, meta }: ChangePrompt): Promise<Receipt> {
    return this.decisions.transact(promptDecider, promptId, { type: 'Change', fields }, meta);
  }
}
