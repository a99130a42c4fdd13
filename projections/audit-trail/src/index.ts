export { AuditTrailViewModule } from './audit-trail-view.module';
