import { type CommandMeta, Decisions, givenFields, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { LimitTerms } from '../limit.events';
import { limitRegisterDecider, REGISTER } from '../limit-register.decider';

/** Updates the terms of a limit. Absent ones do not change. Throws `not_found` and `precondition_failed`. */
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
