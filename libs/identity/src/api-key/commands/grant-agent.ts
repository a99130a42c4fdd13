import { type CommandMeta, Decisions, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { apiKeyDecider } from '../api-key.decider';

/** Grants an Agent to the key that it was created with. */
export class GrantAgent extends Command<Receipt> {
  constructor(
    readonly keyId: string,
    readonly agentId: string,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(GrantAgent)
export class GrantAgentHandler implements ICommandHandler<GrantAgent> {
  constructor(private readonly decisions: Decisions) {}

  execute({ keyId, agentId, meta }: GrantAgent): Promise<Receipt> {
    return this.decisions.transact(apiKeyDecider, keyId, { type: 'GrantAgent', agentId }, meta);
  }
}
