import { type CommandMeta, Decisions, deriveId, isErased, type Receipt, reject } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { SkillNames } from '../../names/skill-names';
import { entryDecider } from '../entry.decider';
import { type InstalledAt, installationDecider } from '../installation.decider';

/** Installs an entry of the marketplace. Throws `not_found` also for an archived one, `invalid_body` for a version that is not its own, `name_taken`, and `conflict` where the place is full. */
export class InstallEntry extends Command<{ readonly installationId: string; readonly receipt: Receipt }> {
  constructor(
    readonly at: InstalledAt,
    readonly userId: string,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(InstallEntry)
export class InstallEntryHandler implements ICommandHandler<InstallEntry> {
  constructor(
    private readonly decisions: Decisions,
    private readonly names: SkillNames,
  ) {}

  async execute({ at, userId: installedBy, meta }: InstallEntry) {
    const { entryId, versionId, spaceId, agentId } = at;
    const { state: entry } = await this.decisions.load(entryDecider, entryId);
    if (entry.status === 'absent' || entry.sourceId === null)
      return reject('not_found', { kind: 'skill', id: entryId });
    if (entry.status === 'archived') return reject('conflict', { reason: 'archived' });
    const { name, slug } = entry;
    if (isErased(name) || isErased(slug)) return reject('not_found', { kind: 'skill', id: entryId });
    if (versionId !== null && !entry.versions.some(({ id }) => id === versionId))
      return reject('invalid_body', { path: 'versionId', reason: 'unknown_version' });
    const installationId = deriveId(meta.commandId, 'installation');
    const wanted = { spaceId, agentId, skillId: installationId, entryId, name, slug };
    const receipt = await this.names.hold(wanted, meta, (ticket) =>
      this.decisions.transact(installationDecider, installationId, { type: 'Install', at, ticket, installedBy }, meta),
    );
    return { installationId, receipt };
  }
}
