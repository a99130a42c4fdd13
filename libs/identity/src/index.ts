export { AdminRegister } from './admins/admin-register';
export { USE_NOTED_EVERY_MS, apiKeyUseDecider, ApiKeyUse } from './api-key/api-key-use';
export {
  type ApiKey,
  type IssuedApiKey,
  type ApiKeyFields,
  type ApiKeyChange,
  apiKeyDecider,
} from './api-key/api-key.decider';
export { type ApiKeyEvent, apiKeyEvents, usageLimit, type UsageLimit } from './api-key/api-key.events';
export { UpdateApiKey } from './api-key/commands/update-api-key';
export { CreateApiKey, CreateApiKeyHandler } from './api-key/commands/create-api-key';
export { GrantAgent } from './api-key/commands/grant-agent';
export { RevokeApiKey } from './api-key/commands/revoke-api-key';
export { permission, type Permission, PERMISSIONS_OF_ROLE } from './api-key/permissions';
export { FIRST_ADMIN_ID, BOOTSTRAP_KEY_ID, EVERYTHING, bootstrap } from './bootstrap';
export { IdentityModule } from './identity.module';
export { GrantAgentsToTheirKeys } from './policies/grant-agents-to-their-keys.policy';
export { ReleaseMailAddresses } from './policies/release-mail-addresses.policy';
export {
  makeSecret,
  keyIdIn,
  hashOfSecret,
  hashedSecret,
  sessionIdIn,
  hashOfSessionSecret,
  hashOfKey,
} from './secrets';
export { EndSession } from './session/commands/end-session';
export { StartSession, StartSessionHandler } from './session/commands/start-session';
export { sessionDecider } from './session/session.decider';
export { UpdateUser, UpdateUserHandler } from './user/commands/update-user';
export { CreateUser, CreateUserHandler } from './user/commands/create-user';
export { DeleteUser, DeleteUserHandler } from './user/commands/delete-user';
export { ReactivateUser } from './user/commands/reactivate-user';
export { SuspendUser, SuspendUserHandler } from './user/commands/suspend-user';
export { type LivingUser, userDecider, isLiving } from './user/user.decider';
export { instanceRole, type InstanceRole, language, mailSchema, userEvents, type UserEvent } from './user/user.events';
