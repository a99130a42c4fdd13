import { type CommandMeta, Decisions, deriveId, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { SummarisedAgent } from '../../lookups';
import { Estimates } from '../estimates';
import { summaryIndexDecider } from '../summary-index.decider';
import type { BuildMode } from '../summary-index.events';

/** Starts a build of the section-summary index of an Agent, which summarises with its chat model. Rejects `conflict` beside a running one. */
export class StartBuild extends Command<Receipt> {
  constructor(
    readonly agent: SummarisedAgent & { readonly model: string },
    readonly mode: BuildMode,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(StartBuild)
export class StartBuildHandler implements ICommandHandler<StartBuild> {
  constructor(
    private readonly decisions: Decisions,
    private readonly estimates: Estimates,
  ) {}

  async execute({ agent: { agentId, spaceId, model }, mode, meta }: StartBuild): Promise<Receipt> {
    const { state } = await this.decisions.load(summaryIndexDecider, agentId);
    const estimate = await this.estimates.of({ agentId, spaceId }, state, mode, model);
    const buildId = deriveId(meta.commandId, 'build');
    const command = { type: 'Start' as const, agentId, spaceId, buildId, mode, model, estimate };
    return this.decisions.transact(summaryIndexDecider, agentId, command, meta);
  }
}
