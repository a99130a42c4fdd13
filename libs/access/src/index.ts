export { type AgentAccess, Access } from './access';
export { AccessModule } from './access.module';
export { type Credential, keyCredential, sessionCredential, Authenticator } from './authenticator';
export type { Caller, Permission } from './caller';
export { KeyGrants } from './key-grants';
