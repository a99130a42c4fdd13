import { type CommandMeta, Decisions, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { entryDecider } from '../entry.decider';

/** Archives an entry of the marketplace, or lists it again. Throws `not_found`. */
export class ArchiveEntry extends Command<Receipt> {
  constructor(
    readonly entryId: string,
    readonly type: 'Archive' | 'Restore',
    readonly userId: string,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(ArchiveEntry)
export class ArchiveEntryHandler implements ICommandHandler<ArchiveEntry> {
  constructor(private readonly decisions: Decisions) {}

  execute({ entryId, type, userId, meta }: ArchiveEntry): Promise<Receipt> {
    return this.decisions.transact(entryDecider, entryId, { type, userId }, meta);
  }
}
