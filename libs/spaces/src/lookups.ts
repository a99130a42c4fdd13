import type { Position } from '@app/kernel';

/** Injection token of `PromptsOfSpace`. */
export const PROMPTS_OF_SPACE = Symbol('PromptsOfSpace');
/** Ids of the prompts of a Space, complete up to the event at `position`. */
export type PromptsOfSpace = (spaceId: string, position: Position) => Promise<readonly string[]>;

/** Injection token of `SpacesOfUser`. */
export const SPACES_OF_USER = Symbol('SpacesOfUser');
/** Ids of the Spaces that a user is a member of, complete up to the event at `position`. */
export type SpacesOfUser = (userId: string, position: Position) => Promise<readonly string[]>;
