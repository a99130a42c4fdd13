export { NamedBlobsViewModule } from './named-blobs-view.module';
export { NAMED_BLOBS, namedBlobs } from './named-blobs.projection';
