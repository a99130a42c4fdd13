import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EventLog, openSqliteEventLog } from '@app/event-log';
import { type CommandMeta, Decisions, type Receipt } from '@app/kernel';
import { bidCodec, bids, newMeta } from '../fixtures/bids';

/** Fault 12: a hundred commands on one thing at the same time. */

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

test('one wins each revision, the others are told of the conflict, and each that won is answered the same again', async () => {
  const decisions = new Decisions(log, bidCodec);
  const commands = Array.from({ length: 100 }, newMeta);

  const outcomes = await Promise.allSettled(commands.map((meta) => decisions.transact(bids, 'one', { by: 1 }, meta)));
  const won = outcomes.flatMap((outcome, index) => (outcome.status === 'fulfilled' ? [{ receipt: outcome.value, meta: commands[index] as CommandMeta }] : []));
  const refusals = outcomes.filter((outcome) => outcome.status === 'rejected');

  expect(won.length).toBeGreaterThan(0);
  for (const { reason } of refusals) expect(reason).toMatchObject({ name: 'DomainError', code: 'conflict' });
  expect(won.map(({ receipt }) => receipt.revision).toSorted((a, b) => a - b)).toEqual(won.map((_winner, index) => index));
  expect((await log.readStream('bid-one')).map(({ data }) => (JSON.parse(data) as { to: number }).to)).toEqual(won.map((_winner, index) => index + 1));
  for (const { receipt, meta } of won) expect(await decisions.transact(bids, 'one', { by: 1 }, meta)).toEqual<Receipt>({ ...receipt, repeated: true });
});
