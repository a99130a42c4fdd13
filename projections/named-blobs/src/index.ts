export { NamedBlobsViewModule } from './named-blobs-view.module';
export * from './named-blobs.projection';
