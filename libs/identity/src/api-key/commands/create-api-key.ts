import { type CommandMeta, Decisions, deriveId, InstanceSecret, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { apiKeyDecider, type ApiKeyFields } from '../api-key.decider';
import { hashedSecret, makeSecret } from '../../secrets';

/** A new API key. */
export interface CreatedApiKey {
  readonly keyId: string;
  /** Shown once: absent in the answer to a repeat. */
  readonly secret?: string;
  readonly receipt: Receipt;
}

/** Creates an API key for a user. `KeyGrants` (libs/access) checks before that caller and user may grant that much. */
export class CreateApiKey extends Command<CreatedApiKey> {
  constructor(
    readonly userId: string,
    readonly fields: ApiKeyFields,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(CreateApiKey)
export class CreateApiKeyHandler implements ICommandHandler<CreateApiKey> {
  constructor(
    private readonly decisions: Decisions,
    private readonly instance: InstanceSecret,
  ) {}

  async execute({ userId, fields, meta }: CreateApiKey): Promise<CreatedApiKey> {
    const keyId = deriveId(meta.commandId, 'apiKey');
    const secret = makeSecret(keyId);
    const receipt = await this.decisions.transact(
      apiKeyDecider,
      keyId,
      { type: 'Create', userId, fields, secret: hashedSecret(this.instance, secret) },
      meta,
    );
    return receipt.repeated ? { keyId, receipt } : { keyId, secret, receipt };
  }
}
