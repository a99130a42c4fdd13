/** Something of a Skill that was not as the format wants it, and was taken as it was meant. */
export interface SkillWarning {
  /** Stable, in snake case. */
  readonly code: string;
  /** The file concerned, as it is called in what was sent. */
  readonly path: string;
  readonly message: string;
}

/** A reference file of a Skill. */
export interface SkillFile {
  /** Relative to the folder of the Skill, with `/`. */
  readonly path: string;
  /** By the ending of its name. */
  readonly mediaType: string;
  readonly sizeBytes: number;
  /** Of its bytes, in hex. */
  readonly sha256: string;
  readonly bytes: Uint8Array;
}

/** A Skill as a file or an archive holds it. */
export interface ParsedSkill {
  /** Its `SKILL.md`, as it is called in what was sent. */
  readonly path: string;
  /** As people call it: at most 64 characters. */
  readonly name: string;
  readonly slug: string;
  /** 1 to 1,024 characters. */
  readonly description: string;
  /** What follows the frontmatter, as `normalisedInstructions` has it. */
  readonly instructions: string;
  /** Every other key of the frontmatter. */
  readonly frontmatter: Readonly<Record<string, unknown>>;
  /** In the order of their paths. */
  readonly files: readonly SkillFile[];
  readonly warnings: readonly SkillWarning[];
}

/** What one Skill, or all Skills of an archive together, may take. */
export interface SkillLimits {
  /** Reference files of a Skill (`SKILL_MAX_FILES`). */
  readonly files: number;
  /** Bytes of all that is in an archive, inflated (`SKILL_MAX_BYTES`). */
  readonly bytes: number;
}

/** Bytes of one file. */
export const MAX_FILE_BYTES = 25 * 1024 ** 2;
/** Bytes of a `SKILL.md` that can be a Skill: its instructions in four bytes a character, and a frontmatter. */
export const MAX_TEXT_BYTES = 232 * 1024;
/** Characters of the parts of a Skill. */
export const MAX_NAME = 64;
export const MAX_DESCRIPTION = 1_024;
export const MAX_INSTRUCTIONS = 50_000;
export const MAX_PATH = 255;

/** Why a file is no Skill: the `code` of the error. */
export type SkillFailureCode = 'invalid_archive' | 'invalid_frontmatter' | 'too_large';

/** Where a Skill is wrong. */
export interface SkillFault {
  /** The file, as it is called in what was sent. Empty for the whole of it. */
  readonly path: string;
  /** Of the file, from 1. */
  readonly line?: number;
  /** Of the frontmatter. */
  readonly key?: string;
}

/** What was sent is no Skill. The message names file, line and key, and says what to do. */
export class SkillFailure extends Error {
  override readonly name = 'SkillFailure';

  constructor(
    readonly code: SkillFailureCode,
    readonly sentence: string,
    readonly fault: SkillFault,
  ) {
    super(`${placeOf(fault)}${sentence}`);
  }
}

const placeOf = ({ path, line, key }: SkillFault): string => {
  const place = [path.slice(0, MAX_PATH), line === undefined ? '' : `line ${line}`, key ?? ''].filter(
    (part) => part !== '',
  );
  return place.length === 0 ? '' : `${place.join(', ')}: `;
};

/** Ends the reading of a Skill. */
export const fail = (code: SkillFailureCode, sentence: string, fault: SkillFault): never => {
  throw new SkillFailure(code, sentence, fault);
};
