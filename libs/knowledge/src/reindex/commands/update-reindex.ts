import { type CommandMeta, Decisions, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type ReindexAction, reindexDecider } from '../reindex.decider';

/** Pauses, resumes, cancels, swaps or rolls back a re-index. Throws `conflict` where its state does not allow it. */
export class UpdateReindex extends Command<Receipt> {
  constructor(
    /** `reindexId` of the place. */
    readonly id: string,
    readonly action: ReindexAction,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(UpdateReindex)
export class UpdateReindexHandler implements ICommandHandler<UpdateReindex> {
  constructor(private readonly decisions: Decisions) {}

  execute({ id, action, meta }: UpdateReindex): Promise<Receipt> {
    return this.decisions.transact(reindexDecider, id, { type: action }, meta);
  }
}
