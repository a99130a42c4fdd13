import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import { dataKeyPlace, type KeyOwner, type KeySelector, Unavailable } from '@app/kernel/threads';
import { wrapKey } from '../key-wrapping';
import type { KeyRecord } from '../vault';
import {
  causeAbove,
  destroyKey,
  emptyWriteAheadLog,
  forgetNote,
  NO_KEY,
  NOTE,
  openVaultDatabase,
  ownerText,
  rewriteVersion,
} from './vault-database';

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

  /** Creates missing keys in one durable transaction: of an entity also that of its stream, whose owner it has. Skips destroyed ones. */
  ensure(requests: readonly EnsureRequest[]): void {
    this.commit(() => {
      const insert = this.database.prepare(
        'INSERT OR IGNORE INTO keys (wrapped, thing, user_id, space_id) VALUES (?, ?, ?, ?)',
      );
      const insertEntity = this.database.prepare(
        'INSERT OR IGNORE INTO keys (wrapped, thing, user_id, space_id) SELECT ?, ?, user_id, space_id FROM keys WHERE thing = ? AND wrapped <> ?',
      );
      const newKey = (name: string): Buffer => wrapKey(this.wrappingKey, name, randomBytes(32));
      for (const { stream: name, owner } of requests) {
        if (causeAbove(this.database, name, owner) !== undefined) continue;
        const { stream, entity } = dataKeyPlace(name);
        insert.run(newKey(stream), stream, owner.userId ?? null, owner.spaceId ?? null);
        if (entity !== undefined) insertEntity.run(newKey(name), name, stream, NO_KEY);
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

  note(text: string): void {
    this.commit(() => this.database.prepare('INSERT OR REPLACE INTO vault VALUES (?, ?)').run(NOTE, Buffer.from(text)));
  }

  /** Throws where nothing can be written. */
  tryWriting(): void {
    this.commit(() => rewriteVersion(this.database));
  }

  close(): void {
    this.database.close();
  }

  private takeOver(records: readonly KeyRecord[]): number {
    forgetNote(this.database);
    const bury = this.database.prepare('INSERT OR IGNORE INTO destroyed (thing, at, cause) VALUES (?, ?, ?)');
    const buryOwner = this.database.prepare('INSERT OR IGNORE INTO destroyed_owners VALUES (?, ?)');
    const insert = this.database.prepare(
      'INSERT OR IGNORE INTO keys (wrapped, thing, user_id, space_id) VALUES (?, ?, ?, ?)',
    );
    const present = this.database.prepare<[string], Buffer>('SELECT wrapped FROM keys WHERE thing = ?').pluck();
    let erased = 0;
    for (const record of records) {
      if (record.kind === 'destroyedOwner') {
        buryOwner.run(record.owner, record.at);
      } else if (record.kind === 'destroyed') {
        destroyKey(this.database, { key: record.stream, at: record.at, cause: record.cause });
      } else {
        const { stream, owner, wrapped } = record;
        const gone = causeAbove(this.database, stream, owner);
        insert.run(
          gone === undefined ? Buffer.from(wrapped, 'base64') : NO_KEY,
          stream,
          owner.userId ?? null,
          owner.spaceId ?? null,
        );
        if (gone !== undefined) bury.run(stream, gone.at, gone.cause);
        if ((present.get(stream) as Buffer).equals(NO_KEY)) erased += 1;
      }
    }
    return erased;
  }

  private overwrite(selector: KeySelector, at: string): readonly string[] {
    const cause = causeOf(selector);
    if ('stream' in selector) {
      destroyKey(this.database, { key: selector.stream, at, cause });
      return [selector.stream];
    }
    this.database.prepare('INSERT OR IGNORE INTO destroyed_owners VALUES (?, ?)').run(cause, at);
    const [column, value] = 'userId' in selector ? ['user_id', selector.userId] : ['space_id', selector.spaceId];
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
    const names = this.database
      .prepare('SELECT thing FROM destroyed WHERE cause = ? ORDER BY thing')
      .pluck()
      .all(cause) as string[];
    return names.filter((name) => dataKeyPlace(name).entity === undefined);
  }

  private async forgetOlderPages(): Promise<void> {
    for (const deadline = performance.now() + READERS_MS; !emptyWriteAheadLog(this.database); await pause(LOOK_MS)) {
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
