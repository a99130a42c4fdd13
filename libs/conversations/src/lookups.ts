import type { Position } from '@app/kernel';

/** Injection token of `ConversationsOf`. */
export const CONVERSATIONS_OF = Symbol('ConversationsOf');
/** Ids of the conversations of an Agent, a Space or a user, complete up to the event at `position`. */
export type ConversationsOf = (owner: ConversationOwner, position: Position) => Promise<readonly string[]>;

/** With what conversations are deleted: their Agent, Space or user. */
export type ConversationOwner =
  { readonly agentId: string } | { readonly spaceId: string } | { readonly userId: string };

/** Name of the search view over what was said in conversations. */
export const SEARCHED_MESSAGES = 'searched-messages';
/** The scope of a conversation in it. */
export const conversationScope = (conversationId: string): string => `c:${conversationId}`;

/** Injection token of `AttachmentsOf`. */
export const ATTACHMENTS_OF = Symbol('AttachmentsOf');
/**
 * Attached files with the messages that refer to them, complete up to the event at `position` (null: up to the position
 * of the view). A file that no message ever referred to comes without one, the first to expire first.
 */
export type AttachmentsOf = (
  of:
    | { readonly messageId: string }
    | { readonly conversationId: string }
    | { readonly fileId: string }
    | { readonly state: 'unused' },
  position: Position | null,
) => Promise<readonly { readonly fileId: string; readonly conversationId?: string; readonly messageId?: string }[]>;
