export * from './named-blobs.projection';
