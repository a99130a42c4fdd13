import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EventLog, openSqliteEventLog } from '..';
import { newEvents } from '../contract/log-under-test.contract';
import { EventTable } from './event-table';

let folder: string;
let log: EventLog;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'log-passed-'));
  log = await openSqliteEventLog({ folder });
  // Some of what is read at once is of one type, some of both.
  for (let part = 0; part < 25; part += 1)
    await log.append(`passed-${part % 7}`, newEvents(400, { type: part % 3 === 0 ? 'Rare' : 'Noted' }), 'any');
});
afterEach(async () => {
  await log.close();
  rmSync(folder, { recursive: true });
});

/** Everything that one who follows is handed, a page in each turn. */
const followed = async (types?: readonly string[], pageSize = 500): Promise<string[]> => {
  const ids: string[] = [];
  for (
    let page = await log.readAll({ limit: pageSize, ...(types && { filter: { types } }) });
    ;
    page = await log.readAll({ after: page.next, limit: pageSize, ...(types && { filter: { types } }) })
  ) {
    ids.push(...page.events.map(({ id }) => id));
    if (page.end) return ids;
  }
};

describe('those who follow the log from far behind', () => {
  it('each see all of it, while each event is read about once for all of them', async () => {
    const read = jest.spyOn(EventTable.prototype, 'after');
    const seen = await Promise.all(
      Array.from({ length: 12 }, (_, reader) =>
        followed(reader % 2 === 0 ? ['Rare', 'Noted'] : undefined, 100 + reader * 50),
      ),
    );
    const rows = read.mock.results.reduce((sum, { value }) => sum + (value as readonly unknown[]).length, 0);
    read.mockRestore();

    expect(seen[0]).toHaveLength(10_000);
    for (const each of seen) expect(each).toEqual(seen[0]);
    // The last of them are not a whole chunk, or still in memory.
    expect(rows).toBeLessThan(2 * 10_000);
  });

  it('see events of their types alone', async () => {
    const [all, rare] = await Promise.all([followed(), followed(['Rare'])]);
    expect(rare).toHaveLength(9 * 400);
    expect(all.filter((id) => new Set(rare).has(id))).toEqual(rare);
  });

  it('see nothing that was removed since others passed it', async () => {
    const before = await followed();
    await log.truncate('passed-0', 600);
    const after = await followed();
    expect(after).toHaveLength(before.length - 600);
    expect(after.every((id) => before.includes(id))).toBe(true);
  });
});
