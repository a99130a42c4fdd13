/** What threads import that build this view. */
export * from './space-members.projection';
