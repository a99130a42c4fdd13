export * from './tokens-of';
export * from './usage-report';
export * from './usage-sums';
