import { apiKeyDecider, ApiKeyUse, BOOTSTRAP_KEY_ID, hashOfSecret, type IssuedApiKey, keyIdIn, type LivingUser, PERMISSIONS_OF_ROLE, userDecider } from '@app/identity';
import { type Clock, Decisions, equalSecrets, InstanceSecret, LruCache } from '@app/kernel';
import type { Caller } from './caller';

/** Turns a credential into a caller. Folds the key's and the user's streams, so that a revoked key is refused at the next request. */
export class Authenticator {
  /** Callers by the states they follow from; states are replaced when something changes. */
  private readonly callers = new WeakMap<IssuedApiKey, { readonly user: LivingUser; readonly caller: Caller }>();

  /** Hashes of secrets that were right: a key in use is hashed once. Whether it is still valid is asked each time. */
  private readonly proven = new LruCache<string, { readonly keyId: string; readonly hash: string }>(1_000);

  constructor(
    private readonly decisions: Decisions,
    private readonly instance: InstanceSecret,
    private readonly clock: Clock,
    private readonly use: ApiKeyUse,
    /** Told when the use of a key could not be noted; the request goes on. */
    private readonly onUnnoted: (error: unknown) => void,
  ) {}

  /** The caller behind an API key's secret; undefined for anything that is no valid key of an active user now. */
  async authenticate(secret: string): Promise<Caller | undefined> {
    const proven = this.proven.get(secret);
    const caller = proven === undefined ? undefined : await this.callerOf(proven.keyId, proven.hash);
    return caller ?? this.prove(secret);
  }

  private async prove(secret: string): Promise<Caller | undefined> {
    const hash = hashOfSecret(this.instance, secret);
    const ownId = keyIdIn(secret);
    // The bootstrap key may be any text, also one that looks like a key of ours.
    for (const keyId of ownId === undefined ? [BOOTSTRAP_KEY_ID] : [ownId, BOOTSTRAP_KEY_ID]) {
      const caller = await this.callerOf(keyId, hash);
      if (caller === undefined) continue;
      this.proven.set(secret, { keyId, hash });
      return caller;
    }
    return undefined;
  }

  private async callerOf(keyId: string, hash: string): Promise<Caller | undefined> {
    const { state: key } = await this.decisions.load(apiKeyDecider, keyId);
    if (key.status !== 'valid' || !equalSecrets(key.secretHash, hash)) return undefined;
    if (key.expiresAt !== null && Date.parse(key.expiresAt) <= this.clock.now().getTime()) return undefined;
    const { state: user } = await this.decisions.load(userDecider, key.userId);
    if (user.status !== 'active') return undefined;
    this.use.note(keyId).catch(this.onUnnoted);
    const known = this.callers.get(key);
    if (known?.user === user) return known.caller;
    const caller = callerWith(keyId, key, user);
    this.callers.set(key, { user, caller });
    return caller;
  }
}

const callerWith = (keyId: string, key: IssuedApiKey, user: LivingUser): Caller => ({
  actor: `key:${keyId}`,
  onBehalfOf: `user:${key.userId}`,
  userId: key.userId,
  role: user.role,
  permissions: new Set([...key.permissions].filter((permission) => PERMISSIONS_OF_ROLE[user.role].has(permission))),
  keyId,
  agentIds: key.agentIds,
  allAgents: key.allAgents,
});
