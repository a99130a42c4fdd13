export { AuditTrailViewModule } from './audit-trail-view.module';
export * from './audit-trail.projection';
