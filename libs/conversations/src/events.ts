/** What views import of this context: its events, and the shapes and names that they show. It loads no framework. */
export * from './attachment/attachment.events';
export * from './conversation/conversation.events';
export * from './conversation/message-parts';
export * from './lookups';
