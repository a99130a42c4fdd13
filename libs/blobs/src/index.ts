export * from './blobs';
export { type FileBlobsOptions, openFileBlobs } from './files/file-blobs';
