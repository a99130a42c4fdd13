import { type CommandMeta, Decisions, givenFields, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { limitRegisterDecider, REGISTER } from '../limit-register.decider';

/** Deletes a limit, if it exists. Throws `precondition_failed`. */
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
