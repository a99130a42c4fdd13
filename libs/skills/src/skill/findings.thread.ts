import { parentPort } from 'node:worker_threads';
import { findingsWithin } from '@app/screening';
import { isText } from '../loading/search-texts';
import { NEXT_SAVE } from './findings.messages';

// The files of one save, in the order in which they are sent; what is read closely is bounded for all of them together.
let find = findingsWithin();
parentPort?.on('message', (bytes: Uint8Array | typeof NEXT_SAVE) => {
  if (bytes === NEXT_SAVE) {
    find = findingsWithin();
    return;
  }
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  parentPort?.postMessage(isText(file) ? find(file.toString('utf8')) : []);
});
