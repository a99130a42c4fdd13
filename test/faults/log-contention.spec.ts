import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EventLog, openSqliteEventLog } from '@app/event-log';
import { Decisions, type Receipt } from '@app/kernel';
import { bidCodec, bids, newMeta } from '../fixtures/bids';

/** Fault 12: a hundred commands on one aggregate at the same time. */

let folder: string;
let log: EventLog;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'log-contention-'));
  log = await openSqliteEventLog({ folder });
});
afterEach(async () => {
  await log.close();
  rmSync(folder, { recursive: true });
});

test('one wins each revision, all win in the end, and each is answered the same again', async () => {
  const decisions = new Decisions(log, bidCodec);
  const commands = Array.from({ length: 100 }, newMeta);

  const receipts = await Promise.all(commands.map((meta) => decisions.transact(bids, 'one', { by: 1 }, meta)));

  expect(receipts.map(({ revision }) => revision).toSorted((a, b) => a - b)).toEqual(commands.map((_, index) => index));
  expect((await log.readStream('bid-one')).map(({ data }) => (JSON.parse(data) as { to: number }).to)).toEqual(
    commands.map((_, index) => index + 1),
  );
  for (const [index, meta] of commands.entries())
    expect(await decisions.transact(bids, 'one', { by: 1 }, meta)).toEqual<Receipt>({
      ...(receipts[index] as Receipt),
      repeated: true,
    });
});
