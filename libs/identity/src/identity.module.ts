import { ReservationsModule } from '@app/reservations';
import { Module } from '@nestjs/common';
import { identityAggregates } from './identity.aggregates';
import { AdminRegister } from './admins/admin-register';
import { ApiKeyUse } from './api-key/api-key-use';
import { UpdateApiKeyHandler } from './api-key/commands/update-api-key';
import { CreateApiKeyHandler } from './api-key/commands/create-api-key';
import { GrantAgentHandler } from './api-key/commands/grant-agent';
import { RevokeApiKeyHandler } from './api-key/commands/revoke-api-key';
import { GrantAgentsToTheirKeys } from './policies/grant-agents-to-their-keys.policy';
import { ReleaseMailAddresses } from './policies/release-mail-addresses.policy';
import { RevokeKeysOfDeletedUsers } from './policies/revoke-keys-of-deleted-users.policy';
import { EndSessionHandler } from './session/commands/end-session';
import { StartSessionHandler } from './session/commands/start-session';
import { UpdateUserHandler } from './user/commands/update-user';
import { CreateUserHandler } from './user/commands/create-user';
import { DeleteUserHandler } from './user/commands/delete-user';
import { ReactivateUserHandler } from './user/commands/reactivate-user';
import { SuspendUserHandler } from './user/commands/suspend-user';

const commands = [
  UpdateApiKeyHandler,
  CreateApiKeyHandler,
  GrantAgentHandler,
  RevokeApiKeyHandler,
  EndSessionHandler,
  StartSessionHandler,
  UpdateUserHandler,
  CreateUserHandler,
  DeleteUserHandler,
  ReactivateUserHandler,
  SuspendUserHandler,
];
const policies = [GrantAgentsToTheirKeys, ReleaseMailAddresses, RevokeKeysOfDeletedUsers];
const services = [AdminRegister, ApiKeyUse];

/** Users and their API keys. */
@Module({
  imports: [ReservationsModule],
  providers: [...commands, ...policies, ...services],
  exports: services,
})
export class IdentityModule {
  static readonly aggregates = identityAggregates;
}
