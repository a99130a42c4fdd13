import {
  apiKeyDecider,
  ApiKeyUse,
  BOOTSTRAP_KEY_ID,
  hashOfKey,
  hashOfSecret,
  hashOfSessionSecret,
  type IssuedApiKey,
  keyIdIn,
  type LivingUser,
  PERMISSIONS_OF_ROLE,
  sessionDecider,
  sessionIdIn,
  userDecider,
} from '@app/identity';
import {
  type AnyEvent,
  type Clock,
  CLOCK,
  type Decider,
  Decisions,
  equalSecrets,
  InstanceSecret,
  isErased,
  type Logger,
  LOGGER,
  offBudget,
  streamOf,
} from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';
import type { Caller } from './caller';
import { type Place, Recognition, type Recognised } from './recognition';

/** What a request proves its caller with. */
export interface Credential {
  readonly kind: 'apiKey' | 'session';
  readonly secret: string;
}

/** The credential of a request with the secret of an API key. */
export const keyCredential = (secret: string): Credential => ({ kind: 'apiKey', secret });
/** The credential of a request with the secret of a session. */
export const sessionCredential = (secret: string): Credential => ({ kind: 'session', secret });

/**
 * Turns a credential into a caller. Folds the streams of session, key and user, so the next request after a
 * revocation is rejected, also in sessions of that key. While the log is away, callers who only read stay known for a
 * few minutes: nobody can revoke a key in that time.
 */
@Injectable()
export class Authenticator {
  private readonly callers: Readonly<Record<Credential['kind'], Recognition>>;

  constructor(
    private readonly decisions: Decisions,
    private readonly instance: InstanceSecret,
    @Inject(CLOCK) private readonly clock: Clock,
    use: ApiKeyUse,
    @Inject(LOGGER) logger: Pick<Logger, 'warn'>,
  ) {
    const noteUse = (keyId: string, at: number): void => {
      if (!use.isDue(keyId, at)) return;
      // The request goes on.
      offBudget(() => use.note(keyId)).catch((error: unknown) =>
        logger.warn({ error }, 'Recording the use of an API key failed.'),
      );
    };
    this.callers = {
      apiKey: new Recognition(decisions, clock, (secret, reads) => this.proveKey(secret, reads), noteUse),
      session: new Recognition(decisions, clock, (secret, reads) => this.proveSession(secret, reads), noteUse),
    };
  }

  /** The caller of a credential; undefined unless it is a valid key, or an open session, of an active user now. `reads`: the request changes nothing. */
  authenticate({ kind, secret }: Credential, reads = false): Promise<Caller | undefined> {
    return this.callers[kind].authenticate(secret, reads);
  }

  /** The caller from memory, if the credential was seen before and nothing has changed that it follows from; undefined if unknown. */
  recognise({ kind, secret }: Credential): Caller | undefined {
    return this.callers[kind].recognise(secret);
  }

  /** Who holds a key that was proven before, with the rights of now; undefined once it is no valid key of an active user. For work that goes on after its request. */
  async holder(keyId: string): Promise<Caller | undefined> {
    const held = await this.ofKey(keyId, true, () => true);
    return held !== undefined && held.expiresAt > this.clock.now().getTime() ? held.caller : undefined;
  }

  private async proveKey(secret: string, reads: boolean): Promise<Recognised | undefined> {
    const hash = hashOfSecret(this.instance, secret);
    const ownId = keyIdIn(secret);
    // The bootstrap key may be any text, even one that looks like one of our keys.
    for (const keyId of ownId === undefined ? [BOOTSTRAP_KEY_ID] : [ownId, BOOTSTRAP_KEY_ID]) {
      const proven = await this.ofKey(keyId, reads, (held) => equalSecrets(held, hash));
      if (proven !== undefined) return proven;
    }
    return undefined;
  }

  private async proveSession(secret: string, reads: boolean): Promise<Recognised | undefined> {
    const sessionId = sessionIdIn(secret);
    if (sessionId === undefined) return undefined;
    const { state: session, place } = await this.fold(sessionDecider, sessionId, reads);
    const hash = hashOfSessionSecret(this.instance, secret);
    if (session.status !== 'open' || !equalSecrets(session.secretHash, hash)) return undefined;
    const isSame = (held: string): boolean => equalSecrets(session.keyHash, hashOfKey(this.instance, held));
    const key = await this.ofKey(session.keyId, reads, isSame);
    if (key === undefined) return undefined;
    const { expiresAt } = session;
    return {
      ...key,
      caller: { ...key.caller, session: { id: sessionId, expiresAt } },
      expiresAt: Math.min(key.expiresAt, Date.parse(expiresAt)),
      places: [place, ...key.places],
    };
  }

  /** Whoever holds a key; `isHeld` compares what is proven with the hash of the key's secret. */
  private async ofKey(
    keyId: string,
    reads: boolean,
    isHeld: (secretHash: string) => boolean,
  ): Promise<Recognised | undefined> {
    const { timeline } = this.decisions;
    const { state: key, place: keyPlace } = await this.fold(apiKeyDecider, keyId, reads);
    if (key.status !== 'valid' || isErased(key.secretHash) || !isHeld(key.secretHash)) return undefined;
    const { state: user, place: userPlace } = await this.fold(userDecider, key.userId, reads);
    if (user.status !== 'active') return undefined;
    return {
      caller: callerWith(keyId, key, user),
      keyId,
      expiresAt: key.expiresAt === null ? Infinity : Date.parse(key.expiresAt),
      places: [keyPlace, userPlace],
      timeline,
    };
  }

  private async fold<State, Command, Event extends AnyEvent>(
    decider: Decider<State, Command, Event>,
    id: string,
    reads: boolean,
  ): Promise<{ readonly state: State; readonly place: Place }> {
    const { state, revision } = await this.decisions[reads ? 'recall' : 'load'](decider, id);
    return { state, place: { stream: streamOf(decider.category, id), revision } };
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
