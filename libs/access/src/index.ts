export * from './access';
export * from './authenticator';
export * from './caller';
