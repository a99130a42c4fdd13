/** What threads import that build this view. */
export * from './api-keys.projection';
