export {
  normalisedInstructions,
  areDistinct,
  skillArchive,
  isArchive,
  mediaTypeOf,
  pathLengthFault,
  referencePathFault,
  expectSkill,
  readSkill,
  readSkillArchive,
  type SkillArchive,
  type SkillOutcome,
  MAX_DESCRIPTION,
  MAX_FILE_BYTES,
  MAX_INSTRUCTIONS,
  MAX_NAME,
  type ParsedSkill,
  SkillFailure,
  type SkillFile,
  type SkillLimits,
  type SkillWarning,
  MAX_KEPT_BYTES,
  slugOf,
} from './archive';
export { type ListedSkill, type InstalledSkill, LoadableSkills } from './loading/loadable-skills';
export { SKILLS_OF, type SkillsOf, INSTALLATIONS_OF } from './lookups';
export { ArchiveEntry } from './marketplace/commands/archive-entry';
export { InstallEntry } from './marketplace/commands/install-entry';
export { ListSkill } from './marketplace/commands/list-skill';
export { UninstallEntry } from './marketplace/commands/uninstall-entry';
export { entryDecider, latestVersion } from './marketplace/entry.decider';
export type { EntryEvent } from './marketplace/entry.events';
export { type PresentInstallation, installationDecider } from './marketplace/installation.decider';
export type { InstallationEvent } from './marketplace/installation.events';
export { SkillNames } from './names/skill-names';
export { skillNamesDecider } from './names/skill-names.decider';
export { ActivateVersion } from './skill/commands/activate-version';
export { UpdateSkill } from './skill/commands/update-skill';
export { type NewSkill, createdSkillId, type CreatedSkill, CreateSkill } from './skill/commands/create-skill';
export { DeleteSkill } from './skill/commands/delete-skill';
export { DiscardDraft } from './skill/commands/discard-draft';
export { PublishSkill } from './skill/commands/publish-skill';
export { skillStream, SkillBodies } from './skill/skill-bodies';
export { SkillLimit } from './skill/skill-limit';
export {
  type SkillOrigin,
  type PresentSkill,
  type Skill,
  skillDecider,
  versionsOf,
  activeVersion,
} from './skill/skill.decider';
export { skillScope, skillSource, type SkillEvent } from './skill/skill.events';
export { type StoredUpload, StoredUploads } from './skill/stored-uploads';
export { type SkillVersion, keyOf, hashOf, filesOf } from './skill/version';
export { SkillsModule } from './skills.module';
