import { type CommandMeta, Decisions, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { apiKeyDecider, type ApiKeyFields } from '../api-key.decider';

/** Changes everything about a key except its secret. `KeyScope` checks before that the caller may grant that much. */
export class UpdateApiKey extends Command<Receipt> {
  constructor(
    readonly keyId: string,
    readonly fields: Partial<ApiKeyFields>,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(UpdateApiKey)
export class UpdateApiKeyHandler implements ICommandHandler<UpdateApiKey> {
  constructor(private readonly decisions: Decisions) {}

  execute({ keyId, fields, meta }: UpdateApiKey): Promise<Receipt> {
    return this.decisions.transact(apiKeyDecider, keyId, { type: 'Update', fields }, meta);
  }
}
