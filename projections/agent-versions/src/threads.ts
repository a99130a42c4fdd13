/** What threads import that build this view. */
export * from './agent-versions.projection';
