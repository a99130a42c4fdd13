import { type CommandMeta, Decisions, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { apiKeyDecider } from '../api-key.decider';

/** Revokes a key. It is rejected from the next request on. */
export class RevokeApiKey extends Command<Receipt> {
  constructor(
    readonly keyId: string,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(RevokeApiKey)
export class RevokeApiKeyHandler implements ICommandHandler<RevokeApiKey> {
  constructor(private readonly decisions: Decisions) {}

  execute({ keyId, meta }: RevokeApiKey): Promise<Receipt> {
    return this.decisions.transact(apiKeyDecider, keyId, { type: 'Revoke' }, meta);
  }
}
