export { linesOf, markdownBlocks, plainBlocks } from './blocks';
export type { Block, Extraction } from './extraction';
