import { type CommandMeta, Decisions, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { sessionDecider } from '../session.decider';

/** Ends a session. Its cookie is rejected from the next request on. */
export class EndSession extends Command<Receipt> {
  constructor(
    readonly sessionId: string,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(EndSession)
export class EndSessionHandler implements ICommandHandler<EndSession> {
  constructor(private readonly decisions: Decisions) {}

  execute({ sessionId, meta }: EndSession): Promise<Receipt> {
    return this.decisions.transact(sessionDecider, sessionId, { type: 'End' }, meta);
  }
}
