/** What threads import that build this view. */
export * from './audit-objects.projection';
