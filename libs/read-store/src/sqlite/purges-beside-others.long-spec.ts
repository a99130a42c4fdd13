import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { ownTime } from '../../../../test/fixtures/own-time';
import type { Operation } from '../read-store';
import {
  file,
  folder,
  isWhole,
  onDisk,
  open,
  opened,
  raw,
  secretRows,
  withViews,
  writerOf,
} from '../../../../test/fixtures/erased-views';

withViews();

describe('a purge beside others', () => {
  const removals = (rows: readonly Operation[]): readonly Operation[] =>
    rows.flatMap((row): Operation[] => (row.op === 'put' ? [{ op: 'remove', key: row.key }] : []));

  /** Writes rows, removes them and purges, for ever; says so after the third purge. */
  const ENDLESS_ERASER = `
  const { openSqliteReadStore } = require('@app/read-store');
  void (async () => {
    const store = await openSqliteReadStore({ folder: process.argv[1] });
    let number = 1;
    const commit = (operations) => {
      const from = String(number);
      number += 1;
      return store.commit({ view: 'notes', version: 1, from, to: { position: String(number), handled: number }, fence: 1, changes: [{ position: String(number), operations }] });
    };
    for (let round = 1; ; round += 1) {
      const keys = Array.from({ length: 300 }, (_, k) => 'gone' + ((k * 7919) % 300));
      for (let at = 0; at < 300; at += 50) await commit(keys.slice(at, at + 50).map((key, k) => ({ op: 'put', key, row: { text: 'SECRET '.repeat((k * round) % 90 + 1), group: 'g' } })));
      await commit(keys.map((key) => ({ op: 'remove', key })));
      await store.purge();
      if (round === 3) console.log('working');
    }
  })();`;

  it('waits for those who read older rows, and nobody waits for it', async () => {
    const store = await open();
    const commit = writerOf(store);
    const rows = secretRows(400);
    await commit(rows);
    const reader = new Database(file(), { readonly: true });
    reader.exec('begin');
    reader.prepare('select count(*) from rows').get();
    await commit(removals(rows));
    let isPurged = false;
    const purged = store.purge().then(() => (isPurged = true));
    for (let n = 0; n < 20; n += 1) {
      const took = ownTime();
      await commit([{ op: 'put', key: 'other', row: { text: `other ${n}`, group: 'g' } }]);
      expect((await store.get('notes', 'other', 1))?.row['text']).toBe(`other ${n}`);
      expect(took()).toBeLessThan(4_000);
    }
    expect(isPurged).toBe(false);
    expect(onDisk('SECRET')).not.toEqual([]);
    reader.exec('commit');
    reader.close();
    await purged;
    expect(onDisk('SECRET')).toEqual([]);
  });

  it('does nothing to a file in which nothing was written since the last one, whoever holds it', async () => {
    const store = await open();
    const commit = writerOf(store);
    const rows = secretRows(20);
    await commit(rows);
    await commit(removals(rows));
    await store.purge();
    const writer = new Database(file());
    writer.exec('begin immediate');
    await store.purge();
    writer.exec('rollback');
    writer.close();
    expect(onDisk('SECRET')).toEqual([]);
  });

  it.each([1, 2, 3])('leaves what is kept as it is, while two connections write and others read (%p)', async (seed) => {
    let state = seed;
    const random = (below: number): number => (state = (state * 48_271) % 2_147_483_647) % below;
    const [one, two] = [await open(), await open({ inThread: true })];
    const kept = new Map<string, string>();
    const round = (name: string): readonly Operation[] =>
      [...Array(150).keys()].map((): Operation => {
        const key = `${name}${random(500)}`;
        if (random(3) === 0) {
          kept.delete(key);
          return { op: 'remove', key };
        }
        const text = `${key} ${state} ${'text '.repeat(random(2) === 0 ? random(80) : random(3_000))}`;
        kept.set(key, text);
        return { op: 'put', key, row: { text, group: 'g' } };
      });
    const commits = [writerOf(one, 0), writerOf(two, 1)] as const;
    let isDone = false;
    const reading = (async () => {
      for (; !isDone; await nextTurn()) await one.find('notes', { where: { group: 'g' }, limit: 50 }, 1);
    })();
    for (let n = 0; n < 25; n += 1)
      await Promise.all([commits[0](round('a')), commits[1](round('b')), ...(n % 5 === 0 ? [one.purge()] : [])]);
    const removed = [...secretRows(300, 'a-x'), ...secretRows(300, 'b-x')];
    for (const commit of commits) {
      await commit(removed);
      await commit(removals(removed));
    }
    await one.purge();
    expect(onDisk('SECRET')).toEqual([]);
    isDone = true;
    await reading;
    const rows = raw((db) => db.prepare(`select key, row ->> '$.text' from rows order by key`).raw().all());
    expect(isWhole()).toBe('ok');
    expect(JSON.stringify(rows) === JSON.stringify([...kept].toSorted(([a], [b]) => (a < b ? -1 : 1)))).toBe(true);
  });

  it('that is cut short by a kill is finished by the next', async () => {
    const first = await open();
    await writerOf(first)(
      [...Array(100).keys()].map((n) => ({ op: 'put', key: `kept${n}`, row: { text: 'kept', group: 'g' } })),
    );
    await opened.splice(0)[0]?.close();
    for (let round = 0; round < 4; round += 1) {
      const eraser = spawn(
        process.execPath,
        [
          '--require',
          './test/register.cjs',
          '-e',
          ENDLESS_ERASER.replace(
            'let number = 1',
            `let number = ${Number(raw((db) => db.prepare('select position from head').pluck().get()))}`,
          ),
          folder,
        ],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      );
      await once(eraser.stdout, 'data');
      eraser.kill('SIGKILL');
      await once(eraser, 'exit');
      expect(isWhole()).toBe('ok');
    }
    const store = await open();
    const keys = (await store.scan('notes', 1, null, 10_000)).map(({ key }) => key);
    const left = keys.filter((key) => key.startsWith('gone'));
    expect(keys.length - left.length).toBe(100);
    const position = Number((await store.checkpoint('notes', 1))?.position);
    await store.commit({
      view: 'notes',
      version: 1,
      from: String(position),
      to: { position: String(position + 1), handled: 1 },
      fence: 1,
      changes: [
        {
          position: String(position + 1),
          operations: ['gone0', ...left].map((key): Operation => ({ op: 'remove', key })),
        },
      ],
    });
    await store.purge();
    expect(onDisk('SECRET')).toEqual([]);
  });
});
