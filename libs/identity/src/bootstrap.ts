import { type Clock, type CommandMeta, Decisions, deriveId, type Ids, InstanceSecret, stepOf } from '@app/kernel';
import { apiKeyDecider, type ApiKeyFields } from './api-key/api-key.decider';
import { hashedSecret, makeSecret } from './secrets';
import { type Permission, permission } from './api-key/permissions';
import { CreateUser } from './user/commands/create-user';
import { userDecider } from './user/user.decider';

const BEGINNING = '01900000-0000-7000-8000-000000000000';
/** The first admin and the bootstrap key have the same ids in every instance, so a start finds them. */
export const FIRST_ADMIN_ID = deriveId(BEGINNING, 'user');
export const BOOTSTRAP_KEY_ID = deriveId(BEGINNING, 'apiKey');

/** All permissions of an admin's key. */
export const EVERYTHING: Omit<ApiKeyFields, 'name'> = {
  agentIds: [],
  allAgents: true,
  permissions: permission.options,
  usageLimit: null,
  expiresAt: null,
};

/** Permissions that came after keys with every permission had been made. */
const LATER: ReadonlySet<Permission> = new Set(['skills:read', 'skills:write', 'memory:read', 'memory:write']);

/** What the first start made. */
export interface Bootstrapped {
  /** The secret of the bootstrap key, only at the start that generated it: print it once. */
  readonly madeSecret?: string;
}

/**
 * Makes sure that the first admin exists and that the bootstrap key has the configured secret; writes nothing if both
 * hold. Without a configured secret it generates one at the first start and keeps it. Does not restore a deleted
 * first admin or a revoked bootstrap key. Adds new permissions to a bootstrap key that had all of an earlier release:
 * no other key could grant them.
 */
export const bootstrap = async (
  system: {
    readonly decisions: Decisions;
    /** The command bus. */
    readonly commands: { execute(command: CreateUser): Promise<unknown> };
    readonly secret: InstanceSecret;
    readonly clock: Clock;
    readonly ids: Ids;
  },
  configured: string | undefined,
): Promise<Bootstrapped> => {
  const { decisions, ids } = system;
  const commandId = ids.next();
  const meta: CommandMeta = { commandId, correlationId: commandId, actor: 'system:bootstrap', now: system.clock.now() };
  const admin = { email: 'admin@localhost.localdomain', name: 'Administrator', role: 'admin', language: 'en' } as const;
  if ((await decisions.load(userDecider, FIRST_ADMIN_ID)).revision < 0)
    await system.commands.execute(new CreateUser(admin, meta, FIRST_ADMIN_ID));

  const { state: key } = await decisions.load(apiKeyDecider, BOOTSTRAP_KEY_ID);
  if (key.status === 'absent') {
    const secret = configured ?? makeSecret(BOOTSTRAP_KEY_ID);
    const command = {
      type: 'Create',
      userId: FIRST_ADMIN_ID,
      secret: hashedSecret(system.secret, secret),
      fields: { name: 'Bootstrap', ...EVERYTHING },
    } as const;
    await decisions.transact(apiKeyDecider, BOOTSTRAP_KEY_ID, command, stepOf(meta, 'apiKey'));
    return configured === undefined ? { madeSecret: secret } : {};
  }
  if (key.status === 'valid' && hadEverything(key.permissions)) {
    const fields = { permissions: EVERYTHING.permissions };
    await decisions.transact(apiKeyDecider, BOOTSTRAP_KEY_ID, { type: 'Update', fields }, stepOf(meta, 'permissions'));
  }
  if (key.status === 'valid' && configured !== undefined) {
    await decisions.transact(
      apiKeyDecider,
      BOOTSTRAP_KEY_ID,
      { type: 'ReplaceSecret', secret: hashedSecret(system.secret, configured) },
      stepOf(meta, 'apiKey'),
    );
  }
  return {};
};

const hadEverything = (held: ReadonlySet<Permission>): boolean =>
  permission.options.every((option) => held.has(option) !== LATER.has(option));
