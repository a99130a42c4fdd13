import { type CommandMeta, Decisions, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { apiKeyDecider, type ApiKeyChange } from '../api-key.decider';

/** Changes everything about a key except its secret. `KeyGrants` makes changes that check whether the caller may grant that much. */
export class UpdateApiKey extends Command<Receipt> {
  constructor(
    readonly keyId: string,
    readonly change: ApiKeyChange,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(UpdateApiKey)
export class UpdateApiKeyHandler implements ICommandHandler<UpdateApiKey> {
  constructor(private readonly decisions: Decisions) {}

  execute({ keyId, change, meta }: UpdateApiKey): Promise<Receipt> {
    return this.decisions.transact(apiKeyDecider, keyId, { type: 'Update', fields: change }, meta);
  }
}
