import { changedFields, type Decider, givenFields, never, type Position, reject, type Sensitive } from '@app/kernel';
import type { ApiKeyEvent, UsageLimit } from './api-key.events';
import type { Permission } from './permissions';

interface Grants {
  readonly agentIds: ReadonlySet<string>;
  readonly allAgents: boolean;
  readonly permissions: ReadonlySet<Permission>;
  readonly usageLimit: UsageLimit | null;
  /** ISO 8601 UTC. */
  readonly expiresAt: string | null;
}

interface Issued extends Grants {
  readonly userId: string;
  readonly name: Sensitive<string>;
  readonly secretHash: Sensitive<string>;
  /** Number of usage limits it has had, each removed before the next was set. */
  readonly limitsHad: number;
  /** Position of what said last for which Agents it is. */
  readonly agentsSaidAt: Position;
}

/** State of an API key. It is never deleted. */
export type ApiKey = { readonly status: 'absent' } | ({ readonly status: 'valid' | 'revoked' } & Issued);
/** An API key that was created, valid or revoked. */
export type IssuedApiKey = Extract<ApiKey, Issued>;

/**
 * What a key may do, for whom and until when: `expiresAt` is ISO 8601 UTC, null for never; `usageLimit` is null where
 * it has none of its own.
 */
export interface ApiKeyFields {
  readonly name: string;
  readonly agentIds: readonly string[];
  readonly allAgents: boolean;
  readonly permissions: readonly Permission[];
  readonly usageLimit: UsageLimit | null;
  readonly expiresAt: string | null;
}

/** A change of a key, by what it is when it is decided. May reject. */
export type ApiKeyChange = (current: IssuedApiKey) => Partial<ApiKeyFields>;

/** A secret as it is stored: its first characters, to know it by, and its hash. */
export interface HashedSecret {
  readonly prefix: string;
  readonly secretHash: string;
}

/** What can be asked of an API key. */
export type ApiKeyCommand =
  | { readonly type: 'Create'; readonly userId: string; readonly secret: HashedSecret; readonly fields: ApiKeyFields }
  | { readonly type: 'Update'; readonly fields: Partial<ApiKeyFields> | ApiKeyChange }
  /** `unlessSaidAfter`: not where somebody has said behind that position for which Agents the key is. */
  | { readonly type: 'GrantAgent'; readonly agentId: string; readonly unlessSaidAfter?: Position }
  | { readonly type: 'ReplaceSecret'; readonly secret: HashedSecret }
  /** `withUser`: its user is deleted. */
  | { readonly type: 'Revoke'; readonly withUser?: boolean };

/** An API key. It is limited to its user's rights when it is used, not here: those rights change independently. */
export const apiKeyDecider: Decider<ApiKey, ApiKeyCommand, ApiKeyEvent> = {
  category: 'apiKey',
  initial: { status: 'absent' },

  decide: (command, key) => {
    if (command.type === 'Create') return create(command, key);
    if (key.status === 'absent') return reject('not_found');
    if (key.status === 'revoked') return command.type === 'Revoke' ? [] : reject('not_found');
    switch (command.type) {
      case 'Update':
        return change(typeof command.fields === 'function' ? command.fields(key) : command.fields, key);
      case 'GrantAgent':
        return grantAgent(command, key);
      case 'ReplaceSecret':
        return key.secretHash === command.secret.secretHash
          ? []
          : [{ type: 'ApiKeySecretReplaced', data: command.secret }];
      case 'Revoke':
        return [{ type: 'ApiKeyRevoked', data: command.withUser === true ? { withUser: true } : {} }];
      default:
        return never(command);
    }
  },

  evolve: (key, event) => {
    if (event.type === 'ApiKeyCreated') {
      const { prefix: _, ...given } = event.data;
      return {
        ...given,
        status: 'valid',
        agentIds: new Set(given.agentIds),
        permissions: new Set(given.permissions),
        limitsHad: given.usageLimit === null ? 0 : 1,
        agentsSaidAt: event.context.position,
      };
    }
    if (key.status === 'absent') return key;
    switch (event.type) {
      case 'ApiKeyChanged': {
        const { agentIds, permissions, ...fields } = event.data;
        const isLimitedAnew = key.usageLimit === null && (fields.usageLimit ?? null) !== null;
        return {
          ...key,
          ...givenFields(fields),
          agentIds: agentIds === undefined ? key.agentIds : new Set(agentIds),
          permissions: permissions === undefined ? key.permissions : new Set(permissions),
          limitsHad: key.limitsHad + (isLimitedAnew ? 1 : 0),
          agentsSaidAt:
            agentIds === undefined && fields.allAgents === undefined ? key.agentsSaidAt : event.context.position,
        };
      }
      case 'ApiKeyAgentGranted':
        return { ...key, agentIds: new Set(event.data.agentIds) };
      case 'ApiKeySecretReplaced':
        return { ...key, secretHash: event.data.secretHash };
      case 'ApiKeyRevoked':
        return { ...key, status: 'revoked' };
      default:
        return never(event);
    }
  },

  owner: (event) => (event.type === 'ApiKeyCreated' ? { userId: event.data.userId } : {}),
};

const create = (
  { userId, secret, fields }: Extract<ApiKeyCommand, { readonly type: 'Create' }>,
  key: ApiKey,
): readonly ApiKeyEvent[] => {
  if (key.status !== 'absent')
    return key.userId === userId && key.secretHash === secret.secretHash
      ? []
      : reject('conflict', { reason: 'exists' });
  return [
    {
      type: 'ApiKeyCreated',
      data: { userId, ...secret, ...fields, agentIds: [...fields.agentIds], permissions: [...fields.permissions] },
    },
  ];
};

const change = (fields: Partial<ApiKeyFields>, key: IssuedApiKey): readonly ApiKeyEvent[] => {
  const { agentIds, permissions, ...others } = fields;
  const data = {
    ...changedFields(others, key),
    ...(agentIds === undefined || sameMembers(agentIds, key.agentIds) ? {} : { agentIds: [...agentIds] }),
    ...(permissions === undefined || sameMembers(permissions, key.permissions)
      ? {}
      : { permissions: [...permissions] }),
  };
  return Object.keys(data).length === 0 ? [] : [{ type: 'ApiKeyChanged', data }];
};

/** A key with all Agents has this one already. */
const grantAgent = (
  { agentId, unlessSaidAfter }: Extract<ApiKeyCommand, { readonly type: 'GrantAgent' }>,
  { agentIds, allAgents, agentsSaidAt }: IssuedApiKey,
): readonly ApiKeyEvent[] =>
  allAgents || agentIds.has(agentId) || (unlessSaidAfter !== undefined && agentsSaidAt > unlessSaidAfter)
    ? []
    : [{ type: 'ApiKeyAgentGranted', data: { agentId, agentIds: [...agentIds, agentId] } }];

const sameMembers = (given: readonly string[], held: ReadonlySet<string>): boolean =>
  given.length === held.size && given.every((member) => held.has(member));
