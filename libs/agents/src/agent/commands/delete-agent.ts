import { type CommandMeta, Decisions, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { agentDecider } from '../agent.decider';

/** Deletes an Agent; policies remove what belongs to it. Throws `conflict` for the personal chat Agent. */
export class DeleteAgent extends Command<Receipt> {
  constructor(
    readonly agentId: string,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(DeleteAgent)
export class DeleteAgentHandler implements ICommandHandler<DeleteAgent> {
  constructor(private readonly decisions: Decisions) {}

  execute({ agentId, meta }: DeleteAgent): Promise<Receipt> {
    return this.decisions.transact(agentDecider, agentId, { type: 'Delete' }, meta);
  }
}
