import { type CommandMeta, Decisions, deriveId, type Receipt, reject } from '@app/kernel';
import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { RUNNING_REINDEXES, type RunningReindexes } from '../../lookups';
import { reindexId } from '../reindex-plan';
import { INSTANCE, reindexDecider, type ReindexPlan } from '../reindex.decider';

/** Starts a re-index. Throws `conflict` where a job that is about the same documents has not ended. */
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
  constructor(
    private readonly decisions: Decisions,
    @Inject(RUNNING_REINDEXES) private readonly others: RunningReindexes,
  ) {}

  async execute({ plan, meta }: StartReindex): Promise<Receipt> {
    if (await this.isBesideAnother(plan)) return reject('conflict', { reason: 'reindex_exists' });
    const jobId = deriveId(meta.commandId, 'reindex');
    return this.decisions.transact(reindexDecider, reindexId(plan), { type: 'Start', ...plan, jobId }, meta);
  }

  /** The instance and a part of it do not go on side by side: each would set back what the other makes. Jobs that begin in the same moment do, and then repeat work. */
  private async isBesideAnother(plan: Omit<ReindexPlan, 'jobId'>): Promise<boolean> {
    if (plan.scope === 'instance') return (await this.others.open()).some((id) => id !== INSTANCE);
    const { state } = await this.decisions.load(reindexDecider, INSTANCE);
    return state.status !== 'none' && state.status !== 'swapped';
  }
}
