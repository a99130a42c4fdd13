/** What views import of this context: its events, and the shapes and names that they show. It loads no framework. */
export * from './api-key/api-key.events';
export * from './api-key/permissions';
export * from './user/user.events';
