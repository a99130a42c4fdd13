import type { AnsweringAgent } from './answering';

/** A Skill that an Agent can load, in the version that is live. */
export interface LoadableSkill {
  readonly skillId: string;
  readonly versionId: string;
  /** Unique among the Agent's: lowercase letters, digits and hyphens. */
  readonly slug: string;
  /** When to use it. */
  readonly description: string;
  readonly contentHash: string;
}

/** A version that an answer names. */
export type PinnedSkill = Pick<LoadableSkill, 'skillId' | 'versionId'>;

/** A reference file of a Skill. */
export interface SkillFileEntry {
  readonly path: string;
  readonly mediaType: string;
  readonly sizeBytes: number;
  /** Hex. */
  readonly sha256: string;
}

/** What a published version says. */
export interface SkillBody extends Pick<LoadableSkill, 'slug' | 'description'> {
  readonly instructions: string;
  readonly files: readonly SkillFileEntry[];
}

/** Injection token of `AgentSkills`. Where nobody provides them, no Agent has any. */
export const AGENT_SKILLS = Symbol('AgentSkills');

/** The Skills of Agents. All throw `Unavailable` while what they read is away; what is deleted or not the Agent's any more rejects `not_found`. */
export interface AgentSkills {
  /** `skillSetHash` changes exactly when what the Agent can load does. */
  of(agent: AnsweringAgent): Promise<{ readonly skills: readonly LoadableSkill[]; readonly skillSetHash: string }>;
  load(version: PinnedSkill): Promise<SkillBody>;
  /** Lines of its reference files, best first. */
  search(
    version: PinnedSkill,
    query: string,
  ): Promise<readonly { readonly path: string; readonly line: number; readonly text: string }[]>;
  /** The text of a reference file; undefined where it has none by that path. */
  readFile(version: PinnedSkill, path: string): Promise<string | undefined>;
}
