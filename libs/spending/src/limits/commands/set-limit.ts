import { type CommandMeta, Decisions, deriveId, givenFields, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { LimitScope, LimitTerms } from '../limit.events';
import { limitRegisterDecider, REGISTER } from '../limit-register.decider';

export interface AddedLimit {
  readonly limitId: string;
  readonly receipt: Receipt;
}

/** Sets a limit for a scope other than an API key. */
export class AddLimit extends Command<AddedLimit> {
  constructor(
    readonly scope: LimitScope,
    readonly terms: LimitTerms,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(AddLimit)
export class AddLimitHandler implements ICommandHandler<AddLimit> {
  constructor(private readonly decisions: Decisions) {}

  async execute({ scope, terms, meta }: AddLimit): Promise<AddedLimit> {
    const limitId = deriveId(meta.commandId, 'limit');
    return {
      limitId,
      receipt: await this.decisions.transact(
        limitRegisterDecider,
        REGISTER,
        { type: 'Add', limitId, scope, ...terms },
        meta,
      ),
    };
  }
}

/** Changes the terms of a limit. Absent ones do not change. Throws `not_found` and `precondition_failed`. */
export class ChangeLimit extends Command<Receipt> {
  constructor(
    readonly limitId: string,
    readonly terms: Partial<LimitTerms>,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(ChangeLimit)
export class ChangeLimitHandler implements ICommandHandler<ChangeLimit> {
  constructor(private readonly decisions: Decisions) {}

  execute({ limitId, terms, meta: { ifRevision, ...meta } }: ChangeLimit): Promise<Receipt> {
    return this.decisions.transact(
      limitRegisterDecider,
      REGISTER,
      { type: 'Change', limitId, ...terms, ...givenFields({ ifRevision }) },
      meta,
    );
  }
}

/** Removes a limit, if it exists. Throws `precondition_failed`. */
export class RemoveLimit extends Command<Receipt> {
  constructor(
    readonly limitId: string,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(RemoveLimit)
export class RemoveLimitHandler implements ICommandHandler<RemoveLimit> {
  constructor(private readonly decisions: Decisions) {}

  execute({ limitId, meta: { ifRevision, ...meta } }: RemoveLimit): Promise<Receipt> {
    return this.decisions.transact(
      limitRegisterDecider,
      REGISTER,
      { type: 'Remove', limitId, ...givenFields({ ifRevision }) },
      meta,
    );
  }
}
