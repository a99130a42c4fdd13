/** What threads of stores import of the kernel. It loads no schemas, so that a thread starts in milliseconds. */
export * from './canonical-json';
export * from './erased';
export * from './errors';
export * from './keyring';
export * from './place';
export * from './rest';
export * from './thread';
export * from './thread-calls';
