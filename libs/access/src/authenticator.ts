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
import {
  type Clock,
  Decisions,
  equalSecrets,
  InstanceSecret,
  isErased,
  LruCache,
  offBudget,
  streamOf,
} from '@app/kernel';
import type { Caller } from './caller';

/** A caller, and what it follows from: it stands as long as neither stream has gone on. */
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
 * Turns a credential into a caller. Folds the key's and the user's streams, so that a revoked key is refused at the next request.
 * Callers who only read are known for a few minutes more while the log is away, where nobody can revoke a key either.
 */
export class Authenticator {
  /** By secret: a key in use is hashed again only when something about it or its user has changed. */
  private readonly recognised = new LruCache<string, Recognised>(1_000);

  constructor(
    private readonly decisions: Decisions,
    private readonly instance: InstanceSecret,
    private readonly clock: Clock,
    private readonly use: ApiKeyUse,
    /** Told when the use of a key could not be noted; the request goes on. */
    private readonly onUnnoted: (error: unknown) => void,
  ) {}

  /** The caller behind an API key's secret; undefined for anything that is no valid key of an active user now. `reads`: what they ask for changes nothing. */
  async authenticate(secret: string, reads = false): Promise<Caller | undefined> {
    const known = this.known(secret);
    const isKnown =
      known !== undefined &&
      (this.isLatest(known.key) || (await this.confirm(known.key, reads))) &&
      (this.isLatest(known.user) || (await this.confirm(known.user, reads)));
    return isKnown ? this.used(known) : this.prove(secret, reads);
  }

  /** The caller at once, where the key was seen before and nothing has happened to it or its user since; undefined leaves it open. */
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
    // The bootstrap key may be any text, also one that looks like a key of ours.
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
