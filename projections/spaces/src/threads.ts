/** What threads import that build this view. */
export * from './spaces.projection';
