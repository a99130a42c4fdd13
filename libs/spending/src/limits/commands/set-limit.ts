import { type CommandMeta, Decisions, deriveId, givenFields, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { LimitScope, LimitTerms } from '../limit.events';
import { limitRegisterDecider, REGISTER } from '../limit-register.decider';

export interface AddedLimit {
  readonly limitId: string;
  readonly receipt: Receipt;
}

/** Sets a limit for a scope other than an API key. */
export class CreateLimit extends Command<AddedLimit> {
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

  async execute({ scope, terms, meta }: CreateLimit): Promise<AddedLimit> {
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

/** Changes the terms of a limit. Absent ones do not change. Throws `not_found` and `precondition_failed`. */
export class UpdateLimit extends Command<Receipt> {
  constructor(
    readonly limitId: string,
    readonly terms: Partial<LimitTerms>,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(UpdateLimit)
export class UpdateLimitHandler implements ICommandHandler<UpdateLimit> {
  constructor(private readonly decisions: Decisions) {}

  execute({ limitId, terms, meta: { ifRevision, ...meta } }: UpdateLimit): Promise<Receipt> {
    return this.decisions.transact(
      limitRegisterDecider,
      REGISTER,
      { type: 'Update', limitId, ...terms, ...givenFields({ ifRevision }) },
      meta,
    );
  }
}

/** Removes a limit, if it exists. Throws `precondition_failed`. */
export class DeleteLimit extends Command<Receipt> {
  constructor(
    readonly limitId: string,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(DeleteLimit)
export class DeleteLimitHandler implements ICommandHandler<DeleteLimit> {
  constructor(private readonly decisions: Decisions) {}

  execute({ limitId, meta: { ifRevision, ...meta } }: DeleteLimit): Promise<Receipt> {
    return this.decisions.transact(
      limitRegisterDecider,
      REGISTER,
      { type: 'Delete', limitId, ...givenFields({ ifRevision }) },
      meta,
    );
  }
}
