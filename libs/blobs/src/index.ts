export { BLOBS, type BlobName, type OpenBody, type PutBody, type Blobs, isBlobName } from './blobs';
export { discardBodies } from './discard';
export { openWhileThere } from './open-while-there';
export { UnusedKeys } from './unused-keys';
export { openFileBlobs } from './files/file-blobs';
export { openS3Blobs } from './s3/s3-blobs';
export { BlobsModule, openBlobs } from './blobs.module';
