export {
  markdownBlocks,
  plainBlocks,
  type Extraction,
  ExtractionFailure,
  type SourceFile,
  formatOf,
  isPlainText,
} from './threads';
export { codeArguments, lastBytes, Parser, WITHOUT_SQLITE } from './process/parser';
export { startProcess, type StartedProcess } from './process/start-process';
