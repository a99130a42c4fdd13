/** What threads import that build this view. */
export * from './section-summaries.projection';
