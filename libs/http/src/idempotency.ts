import { createHash, createHmac } from 'node:crypto';
import {
  canonicalJson,
  categoryOf,
  dataKeyPlace,
  type Clock,
  type DataKey,
  decryptField,
  deriveId,
  encryptField,
  type EncryptedField,
  idOf,
  type Ids,
  type InstanceSecret,
  isDomainError,
  isEncrypted,
  isUnavailable,
  type Keyring,
  reject,
  type Uuid,
} from '@app/kernel';
import type { CoordinationStore, Processes } from '@app/coordination';
import type { Logger } from 'pino';

/** How long a key is remembered (wire, `Idempotency-Key`). */
const REMEMBERED_MS = 24 * 60 * 60 * 1000;
const PREFIX = 'idempotency/';
const UNKEPT: Uuid = '01900000-0000-7000-8000-000000000000';

/** An answer that was given: without secrets, its body encrypted under the data key of the aggregate that was written, and of what it was made from. */
type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly thing: string | null;
  /** Names of further keys, all of which the body is under. */
  readonly madeFrom?: readonly string[];
  readonly body: EncryptedField | null;
};

type Remembered = {
  readonly commandId: Uuid;
  readonly hash: string;
  readonly at: number;
  readonly answer: Answer | null;
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
   * What `written` answered: the name of the data key that the body is under (stored as `thing`), those of what it was made from, without
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

export interface Replay {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** The stream that the body tells of; absent where there is none. */
  readonly stream?: string;
}

/**
 * Runs a request with an `Idempotency-Key` once. Stores the command id of the key before the command runs, so a
 * repeat after a crash finds what the first request wrote. Stores the answer when it is sent, and repeats it.
 */
export class Idempotency {
  private readonly running = new Map<string, string>();

  constructor(
    private readonly store: Pick<CoordinationStore, 'read' | 'write' | 'list'>,
    private readonly keyring: Keyring,
    private readonly secret: InstanceSecret,
    private readonly clock: Clock,
    private readonly ids: Ids,
    private readonly processes: Pick<Processes, 'id' | 'alone' | 'isAlive'>,
    private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  /**
   * Takes up a request. Answers the acceptance to run it with, or the answer it had. Rejects with `idempotency_key_reused`
   * for another request under the same key, and with `request_in_progress` while the first one runs.
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
   */
  async settle(acceptance: Acceptance, { status, headers, hasWritten }: GivenAnswer): Promise<void> {
    if (acceptance.isUnkept === true) return;
    let settled = false;
    try {
      if (status < 300) settled = await this.remember(acceptance, status, headers);
      else if (status < 500 && !hasWritten && !acceptance.again)
        settled = await this.store.write(acceptance.name, null);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      this.logger.warn(
        { error },
        'Keeping an answer for repeats failed. A repeat runs again, under the same command id.',
      );
    } finally {
      if (settled) this.running.delete(acceptance.name);
      else this.release(acceptance);
    }
  }

  /** Ends an accepted request without an answer that could be given again: a repeat runs it under the same command id. */
  release({ name, commandId, hash, at, isUnkept }: Acceptance): void {
    if (isUnkept === true || !this.running.delete(name) || this.processes.alone) return;
    const given = { commandId, hash, at, answer: null };
    const stored = this.store.write(name, given, { expected: { ...given, ...this.here() } });
    void stored.catch((error: unknown) =>
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

  private async takeUp(name: string, hash: string, hashOfValues: () => string): Promise<Acceptance | Replay> {
    const at = this.clock.now().getTime();
    const stored = (await this.store.read(name)) as Remembered | undefined;
    const known = stored !== undefined && stored.at > at - REMEMBERED_MS ? stored : undefined;
    if (known === undefined) {
      const fresh = { commandId: this.ids.next(), hash, at };
      const won = await this.store.write(name, { ...fresh, ...this.here(), answer: null }, { expected: stored });
      return won ? { name, ...fresh, again: false, answered: null } : reject('request_in_progress');
    }
    if (known.hash !== (known.hash.startsWith(OF_BYTES) ? hash : hashOfValues()))
      return reject('idempotency_key_reused');
    if (known.answer === null) return this.runAgain(name, known);
    const replay = await this.replay(name, known.answer);
    this.running.delete(name);
    return replay;
  }

  /** Nobody has answered it: the process that ran it died, or it failed on our side; or it runs elsewhere. */
  private async runAgain(name: string, known: Remembered): Promise<Acceptance> {
    const { by, commandId, hash, at } = known;
    if (by !== undefined && by !== this.processes.id && this.processes.isAlive(by))
      return reject('request_in_progress');
    const mine = { commandId, hash, at, answer: null, ...this.here() };
    if (!this.processes.alone && !(await this.store.write(name, mine, { expected: known })))
      return reject('request_in_progress');
    return { name, commandId, hash, at, again: true, answered: null };
  }

  private here(): { readonly by?: string } {
    return this.processes.alone ? {} : { by: this.processes.id };
  }

  private async replay(name: string, { status, headers, thing, madeFrom = [], body }: Answer): Promise<Replay> {
    if (thing === null || !isEncrypted(body)) return { status, headers, body: null };
    const names = [thing, ...madeFrom];
    const keys = await this.keyring.keys(names);
    const gone = names.find((each) => !keys.has(each));
    if (gone !== undefined) return reject('not_found', placeOf(gone));
    return {
      status,
      headers,
      body: decryptField(united(names.map((each) => keys.get(each) as DataKey)), name, body) as string,
      stream: dataKeyPlace(thing).stream,
    };
  }

  private async remember(
    { name, commandId, hash, at, answered }: Acceptance,
    status: number,
    headers: Readonly<Record<string, string>>,
  ): Promise<boolean> {
    if (answered === null) return false;
    const { keyName, madeFrom = [], body } = answered;
    if (body === null)
      return this.store.write(name, { commandId, hash, at, answer: { status, headers, thing: null, body } });
    const keys = await this.keysOf(keyName, madeFrom);
    if (keys === undefined) return false;
    const answer: Answer = {
      status,
      headers,
      thing: keyName,
      ...(madeFrom.length > 0 && { madeFrom }),
      body: encryptField(united(keys), name, body),
    };
    return this.store.write(name, { commandId, hash, at, answer });
  }

  /** Undefined where one is destroyed. Messages of before 1.6 have none yet: what is made from them goes with them all the same. */
  private async keysOf(keyName: string, madeFrom: readonly string[]): Promise<readonly DataKey[] | undefined> {
    const key = (await this.keyring.keys([keyName])).get(keyName);
    if (key === undefined) return undefined;
    try {
      return [key, ...(await Promise.all(madeFrom.map((each) => this.keyring.ensureKey(each, {}))))];
    } catch (error) {
      if (isDomainError(error, 'not_found')) return undefined;
      throw error;
    }
  }
}

/** One key that nobody has without all of these. */
const united = (keys: readonly DataKey[]): DataKey => {
  const [first, ...others] = keys as readonly [DataKey, ...DataKey[]];
  return others.reduce((sum, key) => createHmac('sha256', sum).update(key).digest(), first);
};

/** What a data key belongs to, for an error. */
const placeOf = (keyName: string): { readonly kind: string; readonly id: string } => {
  const { stream, entity } = dataKeyPlace(keyName);
  return entity === undefined ? { kind: categoryOf(stream), id: idOf(stream) } : { kind: 'message', id: entity };
};
