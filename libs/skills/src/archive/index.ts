export { contentHashOf, normalisedInstructions, type SkillContent } from './content-hash';
export { areDistinct } from './distinct-paths';
export { skillArchive } from './export';
export { isArchive } from './nested';
export { mediaTypeOf, pathLengthFault, referencePathFault } from './paths';
export { expectSkill, readSkill, readSkillArchive, type SkillArchive, type SkillOutcome } from './read';
export {
  MAX_DESCRIPTION,
  MAX_FILE_BYTES,
  MAX_INSTRUCTIONS,
  MAX_NAME,
  MAX_PATH,
  type ParsedSkill,
  SkillFailure,
  type SkillFailureCode,
  type SkillFault,
  type SkillFile,
  type SkillLimits,
  type SkillWarning,
} from './skill';
export { MAX_KEPT_BYTES } from './skill-text';
export { slugOf } from './slug';
