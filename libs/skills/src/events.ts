/** What views import of this context: its events, and the shapes and names that they show. It loads no framework. */
export * from './marketplace/entry.events';
export * from './marketplace/installation.events';
export * from './skill/skill.events';
