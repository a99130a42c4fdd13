import { type CommandMeta, Decisions, deriveId, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { promptDecider, type PromptFields } from '../prompt.decider';

/** The id of the new prompt, and where it is in the log. */
export interface CreatedPrompt {
  readonly promptId: string;
  readonly receipt: Receipt;
}

/** Creates a prompt in the library of a Space. */
export class CreatePrompt extends Command<CreatedPrompt> {
  constructor(
    readonly spaceId: string,
    readonly fields: PromptFields,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(CreatePrompt)
export class CreatePromptHandler implements ICommandHandler<CreatePrompt> {
  constructor(private readonly decisions: Decisions) {}

  async execute({ spaceId, fields, meta }: CreatePrompt): Promise<CreatedPrompt> {
    const promptId = deriveId(meta.commandId, 'prompt');
    return {
      promptId,
      receipt: await this.decisions.transact(promptDecider, promptId, { type: 'Create', spaceId, fields }, meta),
    };
  }
}
