import { type CommandMeta, Decisions, deriveId, InstanceSecret, isErased, type Receipt, reject } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { apiKeyDecider } from '../../api-key/api-key.decider';
import { hashOfKey, hashOfSessionSecret, makeSessionSecret } from '../../secrets';
import { sessionDecider } from '../session.decider';

/** How long a session lasts (wire, Who is asking). */
const LASTS_MS = 12 * 60 * 60_000;

/** A session that was started. */
export interface NewSession {
  /** For the cookie; shown once. */
  readonly secret: string;
  /** ISO 8601 UTC: in 12 hours, or with its key if that expires before. */
  readonly expiresAt: string;
  readonly receipt: Receipt;
}

/** Starts a session with the rights of an API key, which the caller has proven to hold. Rejects `unauthenticated` if it was revoked meanwhile. */
export class StartSession extends Command<NewSession> {
  constructor(
    readonly key: { readonly userId: string; readonly keyId: string },
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(StartSession)
export class StartSessionHandler implements ICommandHandler<StartSession> {
  constructor(
    private readonly decisions: Decisions,
    private readonly instance: InstanceSecret,
  ) {}

  async execute({ key: { userId, keyId }, meta }: StartSession): Promise<NewSession> {
    const { state: key } = await this.decisions.load(apiKeyDecider, keyId);
    // Revoked since it was proven.
    if (key.status !== 'valid' || isErased(key.secretHash))
      return reject('unauthenticated', { reason: 'wrong_sign_in' });
    const keyEnds = key.expiresAt === null ? Infinity : Date.parse(key.expiresAt);
    const expiresAt = new Date(Math.min(meta.now.getTime() + LASTS_MS, keyEnds)).toISOString();
    const sessionId = deriveId(meta.commandId, 'session');
    const secret = makeSessionSecret(sessionId);
    const secretHash = hashOfSessionSecret(this.instance, secret);
    const receipt = await this.decisions.transact(
      sessionDecider,
      sessionId,
      {
        type: 'Start',
        session: { userId, keyId, keyHash: hashOfKey(this.instance, key.secretHash), secretHash, expiresAt },
      },
      meta,
    );
    return { secret, expiresAt, receipt };
  }
}
