export * from './audit-objects.projection';
