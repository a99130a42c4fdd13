import {
  type ApiKey,
  type ApiKeyChange,
  apiKeyDecider,
  type ApiKeyFields,
  type InstanceRole,
  isLiving,
  type IssuedApiKey,
  PERMISSIONS_OF_ROLE,
  type UsageLimit,
  userDecider,
} from '@app/identity';
import { Decisions, nanoUnits, reject } from '@app/kernel';
import { Injectable } from '@nestjs/common';
import { Access } from './access';
import type { Caller } from './caller';

/** Who gives a key what, and what they may give. */
interface GrantContext {
  readonly caller: Caller;
  /** Of the key's user. */
  readonly role: InstanceRole;
  /** The key that gives, if one does. */
  readonly own: ApiKey | undefined;
  /** For each Agent that may be new to the key whether it is in reach. */
  readonly agents: ReadonlyMap<string, boolean>;
}

/** Limits what a key may be granted: no more than its user has today, and no more than the caller has. */
@Injectable()
export class KeyGrants {
  constructor(
    private readonly decisions: Decisions,
    private readonly access: Access,
  ) {}

  /**
   * Checks what `fields` would add to a key of `userId` (`current`, or a new one). Throws `not_found` (no such user),
   * `forbidden`, or `agent_not_granted` for an Agent out of reach, whether it exists or not.
   */
  async assert(caller: Caller, userId: string, fields: Partial<ApiKeyFields>, current?: IssuedApiKey): Promise<void> {
    check(await this.grantContext(caller, userId, fields.agentIds, current), fields, current);
  }

  /**
   * A change that rejects as `assert` does, by what the key is when it is changed: others may change it meanwhile.
   * `change` may reject too; `agentIds` are those that it names. Throws `not_found` for a key that is not the caller's.
   */
  async changing(
    caller: Caller,
    keyId: string,
    change: ApiKeyChange,
    agentIds?: readonly string[],
  ): Promise<ApiKeyChange> {
    const found = await this.key(caller, keyId);
    const giving = await this.grantContext(caller, found.userId, agentIds, found);
    return (current) => {
      const fields = change(current);
      check(giving, fields, current);
      return fields;
    };
  }

  /** A key that the caller may see and change: their own, or any for admins. Throws `not_found`. */
  async key(caller: Caller, keyId: string): Promise<IssuedApiKey> {
    return (await this.find(caller, keyId)) ?? reject('not_found', { kind: 'apiKey', id: keyId });
  }

  /** As `key`; undefined for one that they may not see. */
  async find(caller: Caller, keyId: string): Promise<IssuedApiKey | undefined> {
    const { state: key } = await this.decisions.load(apiKeyDecider, keyId);
    return key.status !== 'absent' && (key.userId === caller.userId || caller.role === 'admin') ? key : undefined;
  }

  private async grantContext(
    caller: Caller,
    userId: string,
    agentIds: readonly string[] = [],
    current?: IssuedApiKey,
  ): Promise<GrantContext> {
    const { state: user } = await this.decisions.load(userDecider, userId);
    if (!isLiving(user)) return reject('not_found', { kind: 'user', id: userId });
    const { keyId } = caller;
    const own = keyId === undefined ? undefined : (await this.decisions.load(apiKeyDecider, keyId)).state;
    const agents = new Map<string, boolean>();
    for (const agentId of agentIds)
      if (current?.agentIds.has(agentId) !== true) agents.set(agentId, await this.reaches(caller, userId, agentId));
    return { caller, role: user.role, own, agents };
  }

  private async reaches(caller: Caller, userId: string, agentId: string): Promise<boolean> {
    const granted = caller.allAgents || caller.agentIds.has(agentId);
    return granted && (await this.access.agentOf(userId, agentId)) !== undefined;
  }
}

/** `current`: the key as it is, or undefined for a new one. */
const check = (
  { caller, role, own, agents }: GrantContext,
  fields: Partial<ApiKeyFields>,
  current: IssuedApiKey | undefined,
): void => {
  assertWithinCaller(caller, role, fields, current);
  if (current !== undefined && exceeds(current, caller, PERMISSIONS_OF_ROLE[role])) rejectMore(fields, current);
  for (const agentId of fields.agentIds ?? [])
    if (current?.agentIds.has(agentId) !== true) assertReached(agents.get(agentId), agentId);
  if (own !== undefined) assertWithinKey(own, fields, current === undefined);
};

/** `isReached`: undefined for an Agent that the key had when it was looked at. */
const assertReached = (isReached: boolean | undefined, agentId: string): void => {
  if (isReached === undefined) reject('conflict', { reason: 'concurrent_changes' });
  if (isReached === false) reject('agent_not_granted', { kind: 'agent', id: agentId });
};

/** A key that ends, or is limited, gives none that lasts longer or spends more. One that is limited makes no other: many would spend more together. */
const assertWithinKey = (own: ApiKey, { expiresAt, usageLimit }: Partial<ApiKeyFields>, isNew: boolean): void => {
  if (own.status !== 'valid') return reject('forbidden', { reason: 'key_ended' });
  if (expiresAt !== undefined && isLater(expiresAt, own.expiresAt)) reject('forbidden', { path: 'expiresAt' });
  if (usageLimit === undefined || own.usageLimit === null) return;
  if (isNew || !isWithin(usageLimit, own.usageLimit)) reject('forbidden', { path: 'usageLimit' });
};

/** Rejects what `fields` would add that the caller, or the role of the key's user, has not. */
const assertWithinCaller = (
  caller: Caller,
  role: InstanceRole,
  { permissions = [], allAgents, usageLimit }: Partial<ApiKeyFields>,
  current: IssuedApiKey | undefined,
): void => {
  const added = permissions.filter((permission) => current?.permissions.has(permission) !== true);
  if (added.some((permission) => !caller.permissions.has(permission) || !PERMISSIONS_OF_ROLE[role].has(permission)))
    reject('forbidden', { path: 'permissions' });
  if (allAgents === true && current?.allAgents !== true && !caller.allAgents)
    reject('forbidden', { path: 'allAgents' });
  // What is included is not billed: that is for those to say who set limits.
  const included = usageLimit?.includedAmount ?? null;
  if (included !== null && included !== current?.usageLimit?.includedAmount && !caller.permissions.has('cost:write'))
    reject('forbidden', { path: 'usageLimit.includedAmount', permission: 'cost:write' });
};

/** True for a key that may do what its changer may not, as far as its user's role lets it today. */
const exceeds = (
  { permissions, agentIds, allAgents }: IssuedApiKey,
  caller: Caller,
  ofRole: ReadonlySet<string>,
): boolean =>
  [...permissions].some((permission) => ofRole.has(permission) && !caller.permissions.has(permission)) ||
  (!caller.allAgents && (allAgents || [...agentIds].some((agentId) => !caller.agentIds.has(agentId))));

/** Such a key gets nothing more: the rights of both together are nobody's to give. It does not last longer or spend more either. */
const rejectMore = (
  { permissions = [], agentIds = [], allAgents, expiresAt, usageLimit }: Partial<ApiKeyFields>,
  current: IssuedApiKey,
): void => {
  if (permissions.some((permission) => !current.permissions.has(permission)))
    reject('forbidden', { path: 'permissions', reason: 'key_exceeds' });
  if (allAgents === true && !current.allAgents) reject('forbidden', { path: 'allAgents', reason: 'key_exceeds' });
  if (agentIds.some((agentId) => !current.agentIds.has(agentId)))
    reject('forbidden', { path: 'agentIds', reason: 'key_exceeds' });
  if (expiresAt !== undefined && isLater(expiresAt, current.expiresAt)) reject('forbidden', { path: 'expiresAt' });
  if (usageLimit !== undefined && current.usageLimit !== null && !isWithin(usageLimit, current.usageLimit))
    reject('forbidden', { path: 'usageLimit' });
};

/** Null is never. */
const isLater = (time: string | null, other: string | null): boolean =>
  other !== null && (time === null || Date.parse(time) > Date.parse(other));

/** Whether a limit is as tight as another. */
const isWithin = (limit: UsageLimit | null, other: UsageLimit): boolean =>
  limit !== null &&
  (limit.action !== 'warn' || other.action === 'warn') &&
  limit.window === other.window &&
  limit.timeZone === other.timeZone &&
  nanoUnits(limit.amount) <= nanoUnits(other.amount);
