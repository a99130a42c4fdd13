import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  beforeWork,
  canonicalJson,
  type Clock,
  CLOCK,
  deriveId,
  type Ids,
  IDS,
  InstanceSecret,
  inTime,
  isAccessDenied,
  isUnavailable,
  type Keyring,
  LOGGER,
  reject,
  Unavailable,
  type Uuid,
} from '@app/kernel';
import { COORDINATION_STORE, type CoordinationStore, Processes } from '@app/coordination';
import { VAULT } from '@app/vault';
import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { type KeptAnswer, keptAnswerOf, type Replay, replayOf } from './kept-answer';

/** How long a key is remembered (wire, `Idempotency-Key`). */
const REMEMBERED_MS = 24 * 60 * 60 * 1000;
const PREFIX = 'idempotency/';
/** How long an answer waits until it is kept for repeats, and how long a request that is over is tried to be released, milliseconds. */
const KEEP_MS = 2_000;
const RELEASE_MS = 5 * 60_000;
const RELEASE_AGAIN_MS = 500;
const UNKEPT: Uuid = '01900000-0000-7000-8000-000000000000';

type Remembered = {
  readonly commandId: Uuid;
  readonly hash: string;
  readonly at: number;
  readonly answer: KeptAnswer | null;
  /** The process that runs the request, where others may be asked for it too. */
  readonly by?: string;
};

/** A body as it was sent. Bodies are compared by their bytes, without parsing. */
export interface SentBody {
  readonly digest: string;
  readonly value: unknown;
}

export const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('base64');
export const NO_BODY = digestOf(Buffer.alloc(0));
/** Begins hashes of the bytes of a request. Those of 1.5.0, of its values in an order of their own, have none. */
const OF_BYTES = 'b:';

/** A request with an `Idempotency-Key` that runs. */
export interface Acceptance {
  readonly name: string;
  readonly commandId: Uuid;
  readonly hash: string;
  readonly at: number;
  /** It ran before, and nobody knows how that ended. */
  readonly again: boolean;
  /** Nothing of the request is stored (`unkept`). */
  readonly isUnkept?: true;
  /**
   * What `Writes` answered: the name of the data key that the body is under (stored as `thing`), those of what it was made from, without
   * which it cannot be read either, and the body as a repeat may see it.
   */
  answered: { readonly keyName: string; readonly madeFrom?: readonly string[]; readonly body: string | null } | null;
}

/** How a request was answered. */
export interface GivenAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether its command appended anything, or may have. */
  readonly hasWritten: boolean;
}

/**
 * Runs a request with an `Idempotency-Key` once. Stores the command id of the key before the command runs, so a
 * repeat after a crash finds what the first request wrote. Stores the answer when it is sent, and repeats it.
 */
@Injectable()
export class Idempotency {
  private readonly running = new Map<string, string>();
  /** Names of requests whose answer is being kept. */
  private readonly keeping = new Set<string>();

  constructor(
    @Inject(COORDINATION_STORE) private readonly store: Pick<CoordinationStore, 'read' | 'write' | 'list'>,
    @Inject(VAULT) private readonly keyring: Keyring,
    private readonly secret: InstanceSecret,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(Processes) private readonly processes: Pick<Processes, 'id' | 'alone' | 'isAlive'>,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  /**
   * Takes up a request. Answers the acceptance to run it with, or the answer it had. Rejects with `idempotency_key_reused`
   * for another request under the same key, and with `request_in_progress` while the first one runs. Throws `Unavailable` where a store does
   * not answer: the request is free for any process then; of one that ran before the outcome is `unknown`, of others `none`.
   */
  async accept(actor: string, key: string, target: string, body: SentBody): Promise<Acceptance | Replay> {
    const name = PREFIX + this.secret.hash('idempotency-key', canonicalJson([actor, key]));
    const hash = OF_BYTES + this.secret.hash('command', canonicalJson([target, body.digest]));
    const running = this.running.get(name);
    if (running !== undefined) return reject(running === hash ? 'request_in_progress' : 'idempotency_key_reused');
    this.running.set(name, hash);
    try {
      return await this.takeUp(name, hash, () =>
        this.secret.hash('command', canonicalJson([target, body.value ?? null])),
      );
    } catch (error) {
      this.running.delete(name);
      throw error;
    }
  }

  /**
   * Takes up a request of which nothing may be stored, not even a hash: a repeat has the same command id, and whoever keeps what it is for
   * in memory finds it by that.
   */
  unkept(actor: string, key: string): Acceptance {
    const hash = this.secret.hash('unkept-request', canonicalJson([actor, key]));
    return { name: '', commandId: deriveId(UNKEPT, hash), hash, at: 0, again: false, isUnkept: true, answered: null };
  }

  /**
   * Remembers the answer of an accepted request, or forgets the request when it was rejected before anything was written, by it or when it
   * ran before. Rejected behind that it keeps its command id, so that a repeat meets what was written; so it does where the store is away.
   * Where the store is slow it goes on after 2 s, and the answer is sent: a repeat that is faster is rejected until then.
   */
  async settle(acceptance: Acceptance, answer: GivenAnswer): Promise<void> {
    if (acceptance.isUnkept === true) return;
    await inTime(KEEP_MS, this.keep(acceptance, answer));
  }

  /** Ends an accepted request without an answer that could be given again: a repeat runs it under the same command id. */
  release(acceptance: Acceptance): void {
    const { name, isUnkept } = acceptance;
    if (isUnkept === true || this.keeping.has(name) || !this.running.delete(name) || this.processes.alone) return;
    void this.freed(acceptance).catch((error: unknown) =>
      this.logger.warn(
        { error },
        'Releasing a request failed. Other processes reject its repeats until this one stops.',
      ),
    );
  }

  /** Forgets what is older than a day. */
  async sweep(): Promise<void> {
    const oldest = this.clock.now().getTime() - REMEMBERED_MS;
    for (let after: string | undefined; ;) {
      const page = await this.store.list(PREFIX, after === undefined ? { limit: 500 } : { after, limit: 500 });
      for (const { key, value } of page) if ((value as Remembered).at < oldest) await this.store.write(key, null);
      after = page.at(-1)?.key;
      if (after === undefined) return;
    }
  }

  private async keep(acceptance: Acceptance, { status, headers, hasWritten }: GivenAnswer): Promise<void> {
    const { name } = acceptance;
    let settled = false;
    this.keeping.add(name);
    try {
      if (status < 300) settled = await this.remember(acceptance, status, headers);
      else if (status < 500 && !hasWritten && !acceptance.again) settled = await this.store.write(name, null);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      this.logger.warn(
        { error },
        'Keeping an answer for repeats failed. A repeat runs again, under the same command id.',
      );
    } finally {
      this.keeping.delete(name);
      if (settled) this.running.delete(name);
      else this.release(acceptance);
    }
  }

  /** Lets other processes run a request of this one, which does not run it any more; tried again for a while where the store is away. */
  private async freed({ name, commandId, hash, at }: Pick<Acceptance, 'name' | 'commandId' | 'hash' | 'at'>) {
    const given = { commandId, hash, at, answer: null };
    for (const late = AbortSignal.timeout(RELEASE_MS); !this.running.has(name);) {
      try {
        return void (await this.store.write(name, given, { expected: { ...given, ...this.here() } }));
      } catch (error) {
        if (!isUnavailable(error) || isAccessDenied(error) || late.aborted) throw error;
        await pause(RELEASE_AGAIN_MS, undefined, { ref: false });
      }
    }
  }

  /** Takes a request for this process. What the store did not confirm may stand all the same: it is let go again. */
  private async taken(
    name: string,
    mine: Omit<Remembered, 'answer' | 'by'>,
    stored: Remembered | undefined,
  ): Promise<void> {
    try {
      if (await this.store.write(name, { ...mine, ...this.here(), answer: null }, { expected: stored })) return;
    } catch (error) {
      if (isUnavailable(error) && error.outcome === 'unknown')
        this.release({ ...mine, name, again: false, answered: null });
      throw error;
    }
    reject('request_in_progress');
  }

  private async takeUp(name: string, hash: string, hashOfValues: () => string): Promise<Acceptance | Replay> {
    const at = this.clock.now().getTime();
    const stored = (await this.store.read(name)) as Remembered | undefined;
    const known = stored !== undefined && stored.at > at - REMEMBERED_MS ? stored : undefined;
    if (known === undefined) {
      const fresh = { commandId: this.ids.next(), hash, at };
      await beforeWork(() => this.taken(name, fresh, stored));
      return { name, ...fresh, again: false, answered: null };
    }
    if (known.hash !== (known.hash.startsWith(OF_BYTES) ? hash : hashOfValues()))
      return reject('idempotency_key_reused');
    const { answer } = known;
    if (answer === null) return ofRepeat(() => this.runAgain(name, known));
    const replay = await ofRepeat(() => replayOf(this.keyring, name, answer));
    this.running.delete(name);
    return replay;
  }

  /** Nobody has answered it: the process that ran it died, or it failed on our side; or it runs elsewhere. */
  private async runAgain(name: string, known: Remembered): Promise<Acceptance> {
    const { by, commandId, hash, at } = known;
    if (by !== undefined && by !== this.processes.id && this.processes.isAlive(by))
      return reject('request_in_progress');
    if (!this.processes.alone) await this.taken(name, { commandId, hash, at }, known);
    return { name, commandId, hash, at, again: true, answered: null };
  }

  private here(): { readonly by?: string } {
    return this.processes.alone ? {} : { by: this.processes.id };
  }

  private async remember(
    { name, commandId, hash, at, answered }: Acceptance,
    status: number,
    headers: Readonly<Record<string, string>>,
  ): Promise<boolean> {
    if (answered === null) return false;
    const answer = await keptAnswerOf(this.keyring, name, { ...answered, status, headers });
    return answer !== undefined && this.store.write(name, { commandId, hash, at, answer });
  }
}

/** Whatever a repeat meets: what the first request did is done. */
const ofRepeat = async <T>(step: () => Promise<T>): Promise<T> => {
  try {
    return await step();
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    throw new Unavailable(error.dependency, error.reason, 'unknown', { cause: error });
  }
};
