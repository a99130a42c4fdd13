import { DeleteConversationHandler } from './conversation/commands/delete-conversation';
import { UpdateConversationHandler } from './conversation/commands/update-conversation';

export { Answerer, type AnsweringAgent } from './answering/answerer';
export { History } from './answering/history';
export type { RetrievedPassage, Retriever } from './answering/retriever';
export { type FinishedTurn, Turn, type TurnEvent } from './answering/turn';
export type { Question } from './answering/recorded-turns';
export { Turns } from './answering/turns';
export { DeleteConversation } from './conversation/commands/delete-conversation';
export { UpdateConversation } from './conversation/commands/update-conversation';
export * from './conversation/conversation.aggregate';
export * from './conversation/conversation.decider';
export * from './conversation/conversation.events';
export * from './conversation/message-parts';
export { type ConversationDeletionParts, deleteConversations } from './policies/delete-conversations.policy';

/** Every command handler of the context. They need `Decisions` and `Turns`. */
export const conversationHandlers = [DeleteConversationHandler, UpdateConversationHandler];
