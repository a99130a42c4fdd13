import {
  apiKeyDecider,
  ApiKeyUse,
  BOOTSTRAP_KEY_ID,
  hashOfSecret,
  type IssuedApiKey,
  keyIdIn,
  type LivingUser,
  PERMISSIONS_OF_ROLE,
  userDecider,
} from '@app/identity';
import { type Clock, Decisions, equalSecrets, InstanceSecret, isErased, offBudget, streamOf } from '@app/kernel';
import { LRUCache } from 'lru-cache';
import type { Caller } from './caller';

/** A caller and the streams it was computed from. It is valid as long as neither stream has changed. */
interface Recognised {
  readonly caller: Caller;
  readonly keyId: string;
  /** Milliseconds since 1970; infinite for a key that does not expire. */
  readonly expiresAt: number;
  readonly key: Place;
  readonly user: Place;
  /** Of the log that it follows from. */
  readonly timeline: number | undefined;
}

interface Place {
  readonly stream: string;
  readonly revision: number;
}

/**
 * Turns a credential into a caller. Folds the streams of key and user, so a revoked key is rejected at the next request.
 * While the log is away, callers who only read are known for a few minutes more; nobody can revoke a key then either.
 */
export class Authenticator {
  /** By secret. A key in use is hashed again only if it or its user has changed. */
  private readonly recognised = new LRUCache<string, Recognised>({ max: 1_000 });

  constructor(
    private readonly decisions: Decisions,
    private readonly instance: InstanceSecret,
    private readonly clock: Clock,
    private readonly use: ApiKeyUse,
    /** Called if the use of a key could not be recorded. The request goes on. */
    private readonly onUnnoted: (error: unknown) => void,
  ) {}

  /** The caller of an API key's secret; undefined unless it is a valid key of an active user now. `reads`: the request changes nothing. */
  async authenticate(secret: string, reads = false): Promise<Caller | undefined> {
    const known = this.known(secret);
    const isKnown =
      known !== undefined &&
      (this.isLatest(known.key) || (await this.confirm(known.key, reads))) &&
      (this.isLatest(known.user) || (await this.confirm(known.user, reads)));
    return isKnown ? this.used(known) : this.prove(secret, reads);
  }

  /** The caller from memory, if the key was seen before and neither it nor its user has changed; undefined if unknown. */
  recognise(secret: string): Caller | undefined {
    const known = this.known(secret);
    return known !== undefined && this.isLatest(known.key) && this.isLatest(known.user) ? this.used(known) : undefined;
  }

  private known(secret: string): Recognised | undefined {
    const known = this.recognised.get(secret);
    return known?.timeline === this.decisions.timeline ? known : undefined;
  }

  private async prove(secret: string, reads: boolean): Promise<Caller | undefined> {
    const hash = hashOfSecret(this.instance, secret);
    const ownId = keyIdIn(secret);
    // The bootstrap key may be any text, even one that looks like one of our keys.
    for (const keyId of ownId === undefined ? [BOOTSTRAP_KEY_ID] : [ownId, BOOTSTRAP_KEY_ID]) {
      const proven = await this.recognisedAs(keyId, hash, reads);
      if (proven === undefined) continue;
      this.recognised.set(secret, proven);
      return this.used(proven);
    }
    return undefined;
  }

  private async recognisedAs(keyId: string, hash: string, reads: boolean): Promise<Recognised | undefined> {
    const folded = reads ? 'recall' : 'load';
    const { timeline } = this.decisions;
    const { state: key, revision: keyRevision } = await this.decisions[folded](apiKeyDecider, keyId);
    if (key.status !== 'valid' || isErased(key.secretHash) || !equalSecrets(key.secretHash, hash)) return undefined;
    const { state: user, revision: userRevision } = await this.decisions[folded](userDecider, key.userId);
    if (user.status !== 'active') return undefined;
    return {
      caller: callerWith(keyId, key, user),
      keyId,
      expiresAt: key.expiresAt === null ? Infinity : Date.parse(key.expiresAt),
      key: { stream: streamOf(apiKeyDecider.category, keyId), revision: keyRevision },
      user: { stream: streamOf(userDecider.category, key.userId), revision: userRevision },
      timeline,
    };
  }

  private isLatest({ stream, revision }: Place): boolean {
    return this.decisions.isLatest(stream, revision);
  }

  private confirm({ stream, revision }: Place, reads: boolean): Promise<boolean> {
    return this.decisions.confirm(stream, revision, reads);
  }

  private used({ caller, keyId, expiresAt }: Recognised): Caller | undefined {
    const now = this.clock.now().getTime();
    if (expiresAt <= now) return undefined;
    if (this.use.isDue(keyId, now)) offBudget(() => this.use.note(keyId)).catch(this.onUnnoted);
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
