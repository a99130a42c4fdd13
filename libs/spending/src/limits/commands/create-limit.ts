import { type CommandMeta, Decisions, deriveId, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { LimitScope, LimitTerms } from '../limit.events';
import { limitRegisterDecider, REGISTER } from '../limit-register.decider';

/** The id of the new limit, and where it is in the log. */
export interface CreatedLimit {
  readonly limitId: string;
  readonly receipt: Receipt;
}

/** Creates a limit for a scope other than an API key. */
export class CreateLimit extends Command<CreatedLimit> {
  constructor(
    readonly scope: LimitScope,
    readonly terms: LimitTerms,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(CreateLimit)
export class CreateLimitHandler implements ICommandHandler<CreateLimit> {
  constructor(private readonly decisions: Decisions) {}

  async execute({ scope, terms, meta }: CreateLimit): Promise<CreatedLimit> {
    const limitId = deriveId(meta.commandId, 'limit');
    return {
      limitId,
      receipt: await this.decisions.transact(
        limitRegisterDecider,
        REGISTER,
        { type: 'Create', limitId, scope, ...terms },
        meta,
      ),
    };
  }
}
