export * from './changes';
export * from './moment';
export * from './object-history';
export * from './event-query';
export * from './shown-event';
