import { type CommandMeta, Decisions, deriveId, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { reindexId } from '../reindex-plan';
import { reindexDecider, type ReindexPlan } from '../reindex.decider';

/** Starts a re-index. Throws `conflict` where a job has not ended. */
export class StartReindex extends Command<Receipt> {
  constructor(
    readonly plan: Omit<ReindexPlan, 'jobId'>,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(StartReindex)
export class StartReindexHandler implements ICommandHandler<StartReindex> {
  constructor(private readonly decisions: Decisions) {}

  execute({ plan, meta }: StartReindex): Promise<Receipt> {
    const jobId = deriveId(meta.commandId, 'reindex');
    return this.decisions.transact(reindexDecider, reindexId(plan), { type: 'Start', ...plan, jobId }, meta);
  }
}
