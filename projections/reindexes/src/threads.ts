/** What threads import that build this view. */
export * from './reindexes.projection';
