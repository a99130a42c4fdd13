import type { Position } from '@app/kernel';

/** Injection token of `SkillsOf`. */
export const SKILLS_OF = Symbol('SkillsOf');
/** Ids of the Skills of an Agent or a Space, those of its Agents included, complete up to the event at `position`. */
export type SkillsOf = (
  owner: { readonly agentId: string } | { readonly spaceId: string },
  position: Position,
) => Promise<readonly string[]>;

/** Injection token of `SkillsOf` for installations. */
export const INSTALLATIONS_OF = Symbol('InstallationsOf');
