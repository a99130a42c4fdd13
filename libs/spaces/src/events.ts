/** What views import of this context: its events, and the shapes and names that they show. It loads no framework. */
export * from './prompt/prompt.events';
export * from './space/space.events';
