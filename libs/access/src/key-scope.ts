import {
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

/** Limits what a key may be granted: no more than its user has today, and no more than the caller has. */
@Injectable()
export class KeyScope {
  constructor(
    private readonly decisions: Decisions,
    private readonly access: Access,
  ) {}

  /**
   * Checks what `fields` would add to a key of `userId` (`standing`, or a new one). Throws `not_found` (no such user),
   * `forbidden`, or `agent_not_granted` for an Agent out of reach, whether it exists or not.
   */
  async assert(caller: Caller, userId: string, fields: Partial<ApiKeyFields>, current?: IssuedApiKey): Promise<void> {
    const { state: user } = await this.decisions.load(userDecider, userId);
    if (!isLiving(user)) return reject('not_found', { kind: 'user', id: userId });
    assertWithinCaller(caller, user.role, fields, current);
    if (current !== undefined && exceeds(current, caller, PERMISSIONS_OF_ROLE[user.role])) rejectMore(fields, current);
    for (const agentId of fields.agentIds ?? [])
      if (current?.agentIds.has(agentId) !== true) await this.assertAgent(caller, userId, agentId);
    if (caller.keyId !== undefined) await this.assertWithinKey(caller.keyId, fields, current === undefined);
  }

  /** A key that the caller may see and change: their own, or any for admins. Throws `not_found`. */
  async key(caller: Caller, keyId: string): Promise<IssuedApiKey> {
    const { state: key } = await this.decisions.load(apiKeyDecider, keyId);
    return key.status !== 'absent' && (key.userId === caller.userId || caller.role === 'admin')
      ? key
      : reject('not_found', { kind: 'apiKey', id: keyId });
  }

  private async assertAgent(caller: Caller, userId: string, agentId: string): Promise<void> {
    const granted = caller.allAgents || caller.agentIds.has(agentId);
    if (!granted || (await this.access.agentOf(userId, agentId)) === undefined)
      reject('agent_not_granted', { kind: 'agent', id: agentId });
  }

  /** A key that ends, or is limited, gives none that lasts longer or spends more. One that is limited makes no other: many would spend more together. */
  private async assertWithinKey(
    keyId: string,
    { expiresAt, usageLimit }: Partial<ApiKeyFields>,
    isNew: boolean,
  ): Promise<void> {
    const { state: own } = await this.decisions.load(apiKeyDecider, keyId);
    if (own.status !== 'valid') return reject('forbidden', { reason: 'key_ended' });
    if (expiresAt !== undefined && isLater(expiresAt, own.expiresAt)) reject('forbidden', { path: 'expiresAt' });
    if (usageLimit === undefined || own.usageLimit === null) return;
    if (isNew || !isWithin(usageLimit, own.usageLimit)) reject('forbidden', { path: 'usageLimit' });
  }
}

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

/** Such a key does not get to last longer, or to spend more. */
const rejectMore = ({ expiresAt, usageLimit }: Partial<ApiKeyFields>, current: IssuedApiKey): void => {
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
