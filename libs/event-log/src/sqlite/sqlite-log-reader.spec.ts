import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EventLog, openSqliteEventLog } from '..';
import { newEvents } from '../contract/log-under-test.contract';
import { RecentEvents } from './recent-events';
import { StreamIndex } from './stream-index';

/** More than are kept in memory. */
const OTHERS = 4_200;
const INDEXED = 300;

let folder: string;
let log: EventLog;
let ids: readonly string[];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'log-reader-'));
  log = await openSqliteEventLog({ folder });
  const [first, others, last] = [newEvents(INDEXED), newEvents(OTHERS), newEvents(INDEXED)];
  ids = [...first, ...last].map(({ id }) => id);
  await log.append('read', first, 'noStream');
  await log.append('others', others, 'noStream');
  await log.append('read', last, INDEXED - 1);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await log.close();
  rmSync(folder, { recursive: true });
});

it.each([
  ['forwards', 'from'],
  ['backwards', 'back'],
] as const)('reads a stream whole %s while commits let go of what was in memory', async (direction, reading) => {
  // Both parts of the stream begin in memory and in the index, wherever the index has come to.
  const inMemory: RecentEvents[] = [];
  const of = RecentEvents.prototype.of;
  jest.spyOn(RecentEvents.prototype, 'of').mockImplementation(function (this: RecentEvents, stream) {
    inMemory.push(this);
    return of.call(this, stream);
  });
  await log.readStream('read', { direction });
  const recent = inMemory[0] as RecentEvents;
  recent.shrink(OTHERS);
  const read = jest.spyOn(StreamIndex.prototype, reading).mockImplementationOnce(function (
    this: StreamIndex,
    ...given
  ) {
    for (let more = 0; more < 4_300; more += 1) recent.add(undefined);
    recent.shrink(2 * INDEXED + OTHERS - 1);
    return StreamIndex.prototype[reading].apply(this, given);
  });
  const events = await log.readStream('read', { direction });
  expect(read).toHaveBeenCalled();
  expect(events.map(({ id }) => id)).toEqual(direction === 'forwards' ? ids : ids.toReversed());
});
