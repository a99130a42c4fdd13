export * from './document/document.decider';
export * from './document/document.events';
export * from './tags/tag-registry.decider';
export * from './tags/tag.events';
