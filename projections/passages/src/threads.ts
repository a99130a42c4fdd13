/** What threads import that build this view. */
export * from './passages.projection';
