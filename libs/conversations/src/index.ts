export * from './conversation/conversation.decider';
export * from './conversation/conversation.events';
export * from './conversation/message-parts';
