export { AuditObjectsViewModule } from './audit-objects-view.module';
export * from './audit-objects.projection';
