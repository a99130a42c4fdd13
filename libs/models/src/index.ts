export * from './catalogue';
export * from './local/relevance';
export * from './local/sentences';
export * from './models';
export * from './pricing';
export * from './provider';
export * from './usage';
