export * from './access';
export * from './authenticator';
export * from './caller';
export * from './key-scope';
