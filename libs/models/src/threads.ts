/** What the thread that cuts documents imports of the models. It loads no schemas and no framework. */
export { type Sentence, sentencesOf } from './local/sentences';
