export * from './restatement.decider';
export * from './restatement.events';
export * from './restatements';
