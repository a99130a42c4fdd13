import {
  apiKeyDecider,
  type ApiKeyFields,
  isLiving,
  type IssuedApiKey,
  PERMISSIONS_OF_ROLE,
  type UsageLimit,
  userDecider,
} from '@app/identity';
import { Decisions, nanoUnits, refuse } from '@app/kernel';
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
  async demand(caller: Caller, userId: string, fields: Partial<ApiKeyFields>, standing?: IssuedApiKey): Promise<void> {
    const { state: user } = await this.decisions.load(userDecider, userId);
    if (!isLiving(user)) return refuse('not_found', { kind: 'user', id: userId });
    const permissions = (fields.permissions ?? []).filter(
      (permission) => standing?.permissions.has(permission) !== true,
    );
    if (
      permissions.some(
        (permission) => !caller.permissions.has(permission) || !PERMISSIONS_OF_ROLE[user.role].has(permission),
      )
    )
      refuse('forbidden', { path: 'permissions' });
    if (fields.allAgents === true && standing?.allAgents !== true && !caller.allAgents)
      refuse('forbidden', { path: 'allAgents' });
    // What is included is not billed: that is for those to say who set limits.
    const included = fields.usageLimit?.includedAmount ?? null;
    if (included !== null && included !== standing?.usageLimit?.includedAmount && !caller.permissions.has('cost:write'))
      refuse('forbidden', { path: 'usageLimit.includedAmount', permission: 'cost:write' });
    if (standing !== undefined && exceeds(standing, caller, PERMISSIONS_OF_ROLE[user.role]))
      refuseMore(fields, standing);
    for (const agentId of fields.agentIds ?? [])
      if (standing?.agentIds.has(agentId) !== true) await this.demandAgent(caller, userId, agentId);
    if (caller.keyId !== undefined) await this.demandWithinKey(caller.keyId, fields, standing === undefined);
  }

  /** A key that the caller may see and change: their own, or any for admins. Throws `not_found`. */
  async key(caller: Caller, keyId: string): Promise<IssuedApiKey> {
    const { state: key } = await this.decisions.load(apiKeyDecider, keyId);
    return key.status !== 'absent' && (key.userId === caller.userId || caller.role === 'admin')
      ? key
      : refuse('not_found', { kind: 'apiKey', id: keyId });
  }

  private async demandAgent(caller: Caller, userId: string, agentId: string): Promise<void> {
    const granted = caller.allAgents || caller.agentIds.has(agentId);
    if (!granted || (await this.access.agentOf(userId, agentId)) === undefined)
      refuse('agent_not_granted', { kind: 'agent', id: agentId });
  }

  /** A key that ends, or is limited, gives none that lasts longer or spends more. One that is limited makes no other: many would spend more together. */
  private async demandWithinKey(
    keyId: string,
    { expiresAt, usageLimit }: Partial<ApiKeyFields>,
    isNew: boolean,
  ): Promise<void> {
    const { state: own } = await this.decisions.load(apiKeyDecider, keyId);
    if (own.status !== 'valid') return refuse('forbidden', { reason: 'key_ended' });
    if (expiresAt !== undefined && isLater(expiresAt, own.expiresAt)) refuse('forbidden', { path: 'expiresAt' });
    if (usageLimit === undefined || own.usageLimit === null) return;
    if (isNew || !isWithin(usageLimit, own.usageLimit)) refuse('forbidden', { path: 'usageLimit' });
  }
}

/** True for a key that may do what its changer may not, as far as its user's role lets it today. */
const exceeds = (
  { permissions, agentIds, allAgents }: IssuedApiKey,
  caller: Caller,
  ofRole: ReadonlySet<string>,
): boolean =>
  [...permissions].some((permission) => ofRole.has(permission) && !caller.permissions.has(permission)) ||
  (!caller.allAgents && (allAgents || [...agentIds].some((agentId) => !caller.agentIds.has(agentId))));

/** Such a key does not get to last longer, or to spend more. */
const refuseMore = ({ expiresAt, usageLimit }: Partial<ApiKeyFields>, standing: IssuedApiKey): void => {
  if (expiresAt !== undefined && isLater(expiresAt, standing.expiresAt)) refuse('forbidden', { path: 'expiresAt' });
  if (usageLimit !== undefined && standing.usageLimit !== null && !isWithin(usageLimit, standing.usageLimit))
    refuse('forbidden', { path: 'usageLimit' });
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
