/**
 * The parts of the kernel for threads of stores and for processes that read files. No schemas, so they start in
 * milliseconds.
 */
export * from './background';
export * from './canonical-json';
export * from './erased';
export * from './errors';
export * from './ids';
export * from './keyring';
export * from './log-records';
export * from './names';
export * from './place';
export * from './read-scope';
export * from './time-limits';
export * from './thread';
export * from './thread-calls';
export { countTokens, TokenCount } from './token-count';
export * from './unspaced';
