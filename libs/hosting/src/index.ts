export * from './catalogue';
export * from './projections';
