import { type CommandMeta, Decisions, type Receipt, unlessLeft } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { BuildWorker } from '../../building/build-worker';
import { summaryIndexDecider } from '../summary-index.decider';

/** Cancels the running build of the section-summary index of an Agent, if there is one; `purge` removes the index too. */
export class EndBuild extends Command<Receipt> {
  constructor(
    readonly agentId: string,
    readonly purge: boolean,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(EndBuild)
export class EndBuildHandler implements ICommandHandler<EndBuild> {
  constructor(
    private readonly decisions: Decisions,
    private readonly worker: BuildWorker,
  ) {}

  async execute({ agentId, purge, meta }: EndBuild): Promise<Receipt> {
    const command = { type: purge ? ('Remove' as const) : ('Cancel' as const) };
    const receipt = await this.decisions.transact(summaryIndexDecider, agentId, command, meta);
    // It ends at its next summary anyway.
    await unlessLeft(() => this.worker.interrupt(agentId));
    return receipt;
  }
}
