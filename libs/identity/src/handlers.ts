import { ChangeApiKeyHandler } from './api-key/commands/change-api-key';
import { CreateApiKeyHandler } from './api-key/commands/create-api-key';
import { GrantAgentHandler } from './api-key/commands/grant-agent';
import { RevokeApiKeyHandler } from './api-key/commands/revoke-api-key';
import { ChangeUserHandler } from './user/commands/change-user';
import { CreateUserHandler } from './user/commands/create-user';
import { DeleteUserHandler } from './user/commands/delete-user';
import { ReactivateUserHandler } from './user/commands/reactivate-user';
import { SuspendUserHandler } from './user/commands/suspend-user';

/** Every command handler of the context. They need `Decisions`, `Reservations`, `AdminRegister` and `InstanceSecret`. */
export const identityHandlers = [
  ChangeApiKeyHandler,
  CreateApiKeyHandler,
  GrantAgentHandler,
  RevokeApiKeyHandler,
  ChangeUserHandler,
  CreateUserHandler,
  DeleteUserHandler,
  ReactivateUserHandler,
  SuspendUserHandler,
];
