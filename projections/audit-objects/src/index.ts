export { AuditObjectsViewModule } from './audit-objects-view.module';
export { type AuditObjectRow, auditObjects } from './audit-objects.projection';
