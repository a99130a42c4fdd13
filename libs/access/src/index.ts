export * from './access';
export { AccessModule } from './access.module';
export * from './authenticator';
export * from './caller';
export * from './key-grants';
