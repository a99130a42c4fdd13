/** What threads import that build this view. */
export * from './document-logs.projection';
