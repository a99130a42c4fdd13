/** What the thread that cuts documents imports of the models. It loads no schemas and no framework. */
export * from './local/sentences';
