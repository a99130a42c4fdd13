import type { Position } from '@app/kernel';

/** Injection token of `ConversationsOf`. */
export const CONVERSATIONS_OF = Symbol('ConversationsOf');
/** Ids of the conversations of an Agent, a Space or a user, complete up to the event at `position`. */
export type ConversationsOf = (owner: ConversationOwner, position: Position) => Promise<readonly string[]>;

export type ConversationOwner =
  { readonly agentId: string } | { readonly spaceId: string } | { readonly userId: string };
