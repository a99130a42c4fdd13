import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import { type KeyOwner, type KeySelector, Unavailable } from '@app/kernel';
import { wrapKey } from '../key-wrapping';
import type { KeyRecord } from '../vault';
import { emptyWriteAheadLog, NO_KEY, openVaultDatabase, ownerText, rewriteVersion } from './vault-database';

export interface EnsureRequest {
  readonly stream: string;
  readonly owner: KeyOwner;
}

/** How long a destruction waits for readers of old pages before it gives up, and how often it looks. */
const READERS_MS = 5_000;
const LOOK_MS = 10;

/** The one connection that changes the vault; it lives in the vault's thread. Everything throws `Unavailable`. */
export class VaultWriter {
  private readonly database: Database.Database;

  constructor(
    folder: string,
    private readonly wrappingKey: Buffer,
  ) {
    this.database = openVaultDatabase(folder, wrappingKey);
    // A destruction may have been cut short by a crash.
    emptyWriteAheadLog(this.database);
  }

  /** Creates missing keys in one durable transaction. Skips destroyed ones. */
  ensure(requests: readonly EnsureRequest[]): void {
    this.commit(() => {
      const ownerGone = this.database.prepare('SELECT 1 FROM destroyed_owners WHERE owner IN (?, ?)');
      const insert = this.database.prepare(
        'INSERT OR IGNORE INTO keys (wrapped, thing, user_id, space_id) VALUES (?, ?, ?, ?)',
      );
      for (const { stream, owner } of requests) {
        if (ownerGone.get(ownerText('user', owner.userId ?? ''), ownerText('space', owner.spaceId ?? '')) !== undefined)
          continue;
        insert.run(
          wrapKey(this.wrappingKey, stream, randomBytes(32)),
          stream,
          owner.userId ?? null,
          owner.spaceId ?? null,
        );
      }
    });
  }

  /**
   * Overwrites the selected keys, leaves their tombstones, and empties the write-ahead log, which holds older pages. Answers the streams of
   * each selector. While it waits for readers of those pages, keys are made: only the destruction is late.
   */
  async destroy(selectors: readonly KeySelector[], at: string): Promise<readonly (readonly string[])[]> {
    const streams = this.commit(() => selectors.map((selector) => this.overwrite(selector, at)));
    await this.forgetOlderPages();
    return streams;
  }

  /** Takes over what another vault knows, in one durable transaction, destructions as `destroy` does. Answers how many keys stay destroyed here. */
  async merge(records: readonly KeyRecord[]): Promise<number> {
    const erased = this.commit(() => this.takeOver(records));
    if (records.some(({ kind }) => kind === 'destroyed')) await this.forgetOlderPages();
    return erased;
  }

  /** Throws where nothing can be written. */
  tryWriting(): void {
    this.commit(() => rewriteVersion(this.database));
  }

  close(): void {
    this.database.close();
  }

  private takeOver(records: readonly KeyRecord[]): number {
    const bury = this.database.prepare('INSERT OR IGNORE INTO destroyed (thing, at, cause) VALUES (?, ?, ?)');
    const overwrite = this.database.prepare(
      'INSERT INTO keys (wrapped, thing) VALUES (?, ?) ON CONFLICT (thing) DO UPDATE SET wrapped = excluded.wrapped',
    );
    const buryOwner = this.database.prepare('INSERT OR IGNORE INTO destroyed_owners VALUES (?, ?)');
    const ownerGone = this.database.prepare<[string, string], { owner: string; at: string }>(
      'SELECT owner, at FROM destroyed_owners WHERE owner IN (?, ?)',
    );
    const insert = this.database.prepare(
      'INSERT OR IGNORE INTO keys (wrapped, thing, user_id, space_id) VALUES (?, ?, ?, ?)',
    );
    const present = this.database.prepare<[string], Buffer>('SELECT wrapped FROM keys WHERE thing = ?').pluck();
    let erased = 0;
    for (const record of records) {
      if (record.kind === 'destroyedOwner') {
        buryOwner.run(record.owner, record.at);
      } else if (record.kind === 'destroyed') {
        overwrite.run(NO_KEY, record.stream);
        bury.run(record.stream, record.at, record.cause);
      } else {
        const { stream, owner, wrapped } = record;
        const gone = ownerGone.get(ownerText('user', owner.userId ?? ''), ownerText('space', owner.spaceId ?? ''));
        insert.run(
          gone === undefined ? Buffer.from(wrapped, 'base64') : NO_KEY,
          stream,
          owner.userId ?? null,
          owner.spaceId ?? null,
        );
        if (gone !== undefined) bury.run(stream, gone.at, gone.owner);
        if ((present.get(stream) as Buffer).equals(NO_KEY)) erased += 1;
      }
    }
    return erased;
  }

  private overwrite(selector: KeySelector, at: string): readonly string[] {
    const cause = causeOf(selector);
    if ('stream' in selector)
      this.database.prepare('INSERT OR IGNORE INTO keys (wrapped, thing) VALUES (?, ?)').run(NO_KEY, selector.stream);
    else this.database.prepare('INSERT OR IGNORE INTO destroyed_owners VALUES (?, ?)').run(cause, at);
    const [column, value] =
      'stream' in selector
        ? ['thing', selector.stream]
        : 'userId' in selector
          ? ['user_id', selector.userId]
          : ['space_id', selector.spaceId];
    const rows = this.database.prepare(`SELECT id, thing AS stream FROM keys WHERE ${column} = ?`).all(value) as {
      id: number;
      stream: string;
    }[];
    const overwrite = this.database.prepare('UPDATE keys SET wrapped = ? WHERE id = ?');
    const bury = this.database.prepare('INSERT OR IGNORE INTO destroyed (thing, at, cause) VALUES (?, ?, ?)');
    for (const { id, stream } of rows) {
      overwrite.run(NO_KEY, id);
      bury.run(stream, at, cause);
    }
    if ('stream' in selector) return [selector.stream];
    return this.database
      .prepare('SELECT thing AS stream FROM destroyed WHERE cause = ? ORDER BY thing')
      .pluck()
      .all(cause) as string[];
  }

  private async forgetOlderPages(): Promise<void> {
    for (const deadline = performance.now() + READERS_MS; !emptyWriteAheadLog(this.database); await sleep(LOOK_MS)) {
      if (performance.now() > deadline)
        throw new Unavailable(
          'vault',
          'keys are destroyed, but a long reader keeps older pages of the vault on disk; destroy them again when it has ended',
          'unknown',
        );
    }
  }

  private commit<T>(work: () => T): T {
    try {
      return this.database.transaction(work).immediate();
    } catch (error) {
      throw new Unavailable('vault', (error as Error).message, 'unknown', { cause: error });
    }
  }
}

const causeOf = (selector: KeySelector): string => {
  if ('stream' in selector) return `thing:${selector.stream}`;
  return 'userId' in selector ? ownerText('user', selector.userId) : ownerText('space', selector.spaceId);
};
