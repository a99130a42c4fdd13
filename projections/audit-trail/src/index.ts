export * from './audit-trail.projection';
