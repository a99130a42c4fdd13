export * from './audit-log';
export * from './changes';
export * from './content-looks';
export * from './event-query';
export * from './moment';
export * from './object-history';
export * from './operator-actions';
export * from './shown-event';
export { AUDIT_TRAIL } from './trail-index';
