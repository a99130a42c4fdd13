export { linesOf, markdownBlocks, plainBlocks } from './blocks';
export {
  type Block,
  type Extraction,
  ExtractionFailure,
  type ExtractionFailureCode,
  type ParserLimits,
  type SourceFile,
} from './extraction';
export { formatOf, isPlainText } from './format';
export { blocksOf, plainText } from './formats/plain';
export { codeArguments, lastBytes, Parser, WITHOUT_SQLITE } from './process/parser';
export * from './threads';
export { startProcess } from './process/start-process';
