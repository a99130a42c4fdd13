export * from './tally';
export * from './what-if';
