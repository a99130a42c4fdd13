/** What threads and processes of other libraries import of this one: nothing that starts a process, no schemas. */
export { linesOf, markdownBlocks, plainBlocks } from './blocks';
export { type Block, type Extraction, ExtractionFailure, type SourceFile } from './extraction';
export { formatOf, isPlainText } from './format';
export { blocksOf, plainText } from './formats/plain';
export { mediaTypeByName } from './media-types';
export { bytesOf } from './process/bytes-of';
export { startWatch } from './process/watch';
