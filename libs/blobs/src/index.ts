export * from './blobs';
