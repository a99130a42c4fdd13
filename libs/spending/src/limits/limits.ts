import { type ApiKey, apiKeyDecider, isLiving, type UsageLimit, userDecider } from '@app/identity';
import { CONFIG, type Config, Decisions, nanoUnits, reject } from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';
import type { Calendar } from '../account/account.events';
import type { AccountLimit } from '../account/open-account';
import { type Limit, limitRegisterDecider, REGISTER, scopeKey } from './limit-register.decider';

const NONE: readonly Limit[] = [];
const INSTANCE = scopeKey({ type: 'instance', id: null });

/** Who a call is for, as limits need it. */
export interface Spender {
  readonly userId: string;
  readonly keyId?: string;
  readonly agentId?: string;
  readonly spaceId?: string;
}

/** A limit and the account that is kept under it. */
export interface AppliedLimit extends Limit {
  readonly account: AccountLimit;
}

/** A limit, and the revision of what it is made from. */
export interface RevisedLimit {
  readonly limit: AppliedLimit;
  readonly revision: number;
}

/** Spend limits, folded from the log each time. */
@Injectable()
export class Limits {
  /** Those whose account is kept by a calendar that they alone name. */
  private readonly known = new WeakMap<Limit, AppliedLimit>();
  private readonly ofKeys = new WeakMap<UsageLimit, AppliedLimit>();

  constructor(
    private readonly decisions: Decisions,
    /** What a key's limit says where it says nothing itself. */
    @Inject(CONFIG) private readonly defaults: Pick<Config, 'DEFAULT_CURRENCY' | 'DEFAULT_TIME_ZONE'>,
  ) {}

  /** What calls cost on this platform. */
  get currency(): string {
    return this.defaults.DEFAULT_CURRENCY;
  }

  /** The limits that apply to a call. */
  async of({ userId, keyId, agentId, spaceId }: Spender): Promise<readonly AppliedLimit[]> {
    const { byScope } = (await this.decisions.load(limitRegisterDecider, REGISTER)).state;
    const ofKey =
      keyId === undefined ? undefined : this.ofKey(keyId, (await this.decisions.load(apiKeyDecider, keyId)).state);
    const found: AppliedLimit[] = ofKey === undefined ? [] : [ofKey];
    if (byScope.size === 0) return found;
    for (const key of [
      scopeKey({ type: 'user', id: userId }),
      scopeKey({ type: 'agent', id: agentId ?? null }),
      scopeKey({ type: 'space', id: spaceId ?? null }),
      INSTANCE,
    ]) {
      for (const limit of byScope.get(key) ?? NONE) found.push(this.known.get(limit) ?? (await this.applied(limit)));
    }
    return found;
  }

  /** A limit by its id, which for an API key's is the key's. */
  async find(limitId: string): Promise<AppliedLimit | undefined> {
    return (await this.revised(limitId))?.limit;
  }

  /** As `find`. Rejects `not_found`. */
  async byId(limitId: string): Promise<AppliedLimit> {
    return (await this.revisedById(limitId)).limit;
  }

  /** As `byId`, with the revision of its last change: its `etag`. For the limit of an API key, that of the key. */
  async revisedById(limitId: string): Promise<RevisedLimit> {
    return (await this.revised(limitId)) ?? reject('not_found', { kind: 'limit', id: limitId });
  }

  private async revised(limitId: string): Promise<RevisedLimit | undefined> {
    const { byId } = (await this.decisions.load(limitRegisterDecider, REGISTER)).state;
    const found = byId.get(limitId);
    if (found !== undefined) return { limit: await this.applied(found), revision: found.revision };
    const { state: key, revision } = await this.decisions.load(apiKeyDecider, limitId);
    const limit = this.ofKey(limitId, key);
    return limit === undefined ? undefined : { limit, revision };
  }

  private ofKey(keyId: string, key: ApiKey): AppliedLimit | undefined {
    if (key.status !== 'valid' || key.usageLimit === null) return undefined;
    const given = key.usageLimit;
    const known = this.ofKeys.get(given);
    if (known !== undefined) return known;
    const {
      amount,
      window,
      timeZone = this.defaults.DEFAULT_TIME_ZONE,
      action = 'block',
      includedAmount = null,
    } = given;
    const limit: Limit = {
      id: keyId,
      scope: { type: 'apiKey', id: keyId },
      amount,
      currency: this.defaults.DEFAULT_CURRENCY,
      window,
      timeZone,
      action,
      includedAmount,
    };
    const applied = {
      ...limit,
      account: accountOf(limit, {
        window,
        timeZone,
        anchor: null,
        ...(key.limitsHad > 1 ? { ordinal: key.limitsHad } : {}),
      }),
    };
    this.ofKeys.set(given, applied);
    return applied;
  }

  private async applied(limit: Limit): Promise<AppliedLimit> {
    const { scope, window, timeZone } = limit;
    const isUsersWeek = scope.type === 'user' && window === 'week';
    const applied = {
      ...limit,
      account: accountOf(limit, {
        window,
        timeZone,
        anchor: isUsersWeek ? await this.weekStart(scope.id ?? '') : null,
      }),
    };
    if (!isUsersWeek) this.known.set(limit, applied);
    return applied;
  }

  private async weekStart(userId: string): Promise<string | null> {
    const { state: user } = await this.decisions.load(userDecider, userId);
    return isLiving(user) ? user.usageWindowStart : null;
  }
}

/** Keys do not say in which currency their limits were set: their accounts do. */
const accountOf = (
  { id, scope, amount, currency, action, includedAmount }: Limit,
  calendar: Calendar,
): AccountLimit => ({
  id,
  scope,
  currency: scope.type === 'apiKey' ? undefined : currency,
  terms: { amount: nanoUnits(amount), action, included: includedAmount === null ? null : nanoUnits(includedAmount) },
  calendar,
});
