import type { Position } from '@app/kernel';

/** Injection token of `AgentsOfSpace`. */
export const AGENTS_OF_SPACE = Symbol('AgentsOfSpace');
/** Ids of the Agents of a Space, complete up to the event at `position`. */
export type AgentsOfSpace = (spaceId: string, position: Position) => Promise<readonly string[]>;
