import { type CommandMeta, Decisions, type Receipt, unlessLeft } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { SkillNames } from '../../names/skill-names';
import { installationDecider } from '../installation.decider';

/** Takes an installation away. Its name is free then. Throws `not_found`. */
export class UninstallEntry extends Command<Receipt> {
  constructor(
    readonly installationId: string,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(UninstallEntry)
export class UninstallEntryHandler implements ICommandHandler<UninstallEntry> {
  constructor(
    private readonly decisions: Decisions,
    private readonly names: SkillNames,
  ) {}

  async execute({ installationId, meta }: UninstallEntry): Promise<Receipt> {
    const { state } = await this.decisions.load(installationDecider, installationId);
    const receipt = await this.decisions.transact(installationDecider, installationId, { type: 'Uninstall' }, meta);
    if (state.status === 'present') await unlessLeft(() => this.names.release(state.spaceId, state.ticket, meta));
    return receipt;
  }
}
