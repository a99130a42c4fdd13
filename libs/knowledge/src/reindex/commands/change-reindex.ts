import { type CommandMeta, Decisions, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type ReindexAction, reindexDecider } from '../reindex.decider';

/** Pauses, resumes, cancels, swaps or rolls back a re-index. Throws `conflict` where its state does not allow it. */
export class ChangeReindex extends Command<Receipt> {
  constructor(
    /** `reindexId` of the place. */
    readonly id: string,
    readonly action: ReindexAction,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(ChangeReindex)
export class ChangeReindexHandler implements ICommandHandler<ChangeReindex> {
  constructor(private readonly decisions: Decisions) {}

  execute({ id, action, meta }: ChangeReindex): Promise<Receipt> {
    return this.decisions.transact(reindexDecider, id, { type: action }, meta);
  }
}
