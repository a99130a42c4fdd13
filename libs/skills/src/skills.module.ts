import { type Clock, CLOCK } from '@app/kernel';
import { UnfinishedWork } from '@app/projecting';
import { Inject, Module, type OnModuleInit } from '@nestjs/common';
import { DefaultSkills } from './defaults/default-skills';
import { LoadableSkills } from './loading/loadable-skills';
import { ArchiveEntryHandler } from './marketplace/commands/archive-entry';
import { InstallEntryHandler } from './marketplace/commands/install-entry';
import { ListSkillHandler } from './marketplace/commands/list-skill';
import { UninstallEntryHandler } from './marketplace/commands/uninstall-entry';
import { EntryListing } from './marketplace/entry-listing';
import { SkillNames } from './names/skill-names';
import { DeleteSkillsOfTheDeleted } from './policies/delete-skills.policy';
import { ReleaseSkillNames } from './policies/release-skill-names.policy';
import { RemoveSupersededSkillFiles } from './policies/remove-superseded-skill-files.policy';
import { UninstallEntriesOfTheDeleted } from './policies/uninstall-entries.policy';
import { ActivateVersionHandler } from './skill/commands/activate-version';
import { UpdateSkillHandler } from './skill/commands/update-skill';
import { CreateSkillHandler } from './skill/commands/create-skill';
import { DeleteSkillHandler } from './skill/commands/delete-skill';
import { DiscardDraftHandler } from './skill/commands/discard-draft';
import { PublishSkillHandler } from './skill/commands/publish-skill';
import { SkillBodies } from './skill/skill-bodies';
import { StoredUploads } from './skill/stored-uploads';
import { SkillLimit } from './skill/skill-limit';
import { skillsAggregates } from './skills.aggregates';

const commands = [
  CreateSkillHandler,
  UpdateSkillHandler,
  DiscardDraftHandler,
  PublishSkillHandler,
  ActivateVersionHandler,
  DeleteSkillHandler,
  ListSkillHandler,
  ArchiveEntryHandler,
  InstallEntryHandler,
  UninstallEntryHandler,
];
const policies = [
  DeleteSkillsOfTheDeleted,
  UninstallEntriesOfTheDeleted,
  ReleaseSkillNames,
  RemoveSupersededSkillFiles,
];

/** Skills, their versions and names. Views provide `SKILLS_OF`. */
@Module({
  providers: [
    ...commands,
    ...policies,
    SkillBodies,
    StoredUploads,
    EntryListing,
    LoadableSkills,
    DefaultSkills,
    SkillNames,
    SkillLimit,
  ],
  exports: [SkillBodies, StoredUploads, SkillNames, SkillLimit, LoadableSkills],
})
export class SkillsModule implements OnModuleInit {
  static readonly aggregates = skillsAggregates;

  constructor(
    private readonly names: SkillNames,
    private readonly defaults: DefaultSkills,
    private readonly unfinished: UnfinishedWork,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.unfinished.add({ name: 'skill names', finish: () => this.names.finish(this.clock.now()) });
    this.unfinished.add({ name: 'default Skills', finish: () => this.defaults.list(), isAtStart: true });
  }
}
