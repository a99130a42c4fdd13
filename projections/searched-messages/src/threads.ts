/** What threads import that build this view. */
export * from './searched-messages.projection';
