/** What the thread imports that catches the audit trail up. */
export { auditTrail } from './audit-trail.projection';
