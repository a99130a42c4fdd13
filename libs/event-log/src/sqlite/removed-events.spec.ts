import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { openSqliteEventLog } from '..';
import { ownTime } from '../../../../test/fixtures/own-time';
import { newEvents } from '../contract/log-under-test.contract';
import { LOG_FILE } from './log-files';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'log-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const onDisk = (text: string): boolean =>
  readdirSync(folder).some((file) => readFileSync(join(folder, file)).includes(text));

describe('a removal', () => {
  it('does not wait for a backup that reads, nor do appends, and leaves nothing in the write-ahead log once that has ended', async () => {
    const log = await openSqliteEventLog({ folder });
    await log.append(
      'gone',
      newEvents(3).map((event) => ({ ...event, data: '{"name":"SECRET"}' })),
      'noStream',
    );
    const reader = new Database(join(folder, LOG_FILE), { readonly: true });
    reader.exec('begin');
    reader.prepare('select count(*) from events').get();
    for (let n = 0; n < 5; n += 1) {
      const took = ownTime();
      await Promise.all([
        log.delete(n === 0 ? 'gone' : `other-${n - 1}`, 'any'),
        log.append(`other-${n}`, newEvents(1), 'noStream'),
      ]);
      expect(took()).toBeLessThan(4_000);
    }
    expect(onDisk('SECRET')).toBe(true);
    reader.exec('commit');
    reader.close();
    while (onDisk('SECRET')) await pause(20);
    await log.close();
  });
});
