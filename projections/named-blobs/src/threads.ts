/** What threads import that build this view. */
export * from './named-blobs.projection';
