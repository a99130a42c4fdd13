import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EventLog, openSqliteEventLog } from '@app/event-log';
import { type CommandMeta, type Decider, Decisions, defineEvent, EventCatalogue, EventCodec, type EventsOf, type Keyring, type Receipt, TimeOrderedIds } from '@app/kernel';
import { z } from 'zod';

/** Fault 12: a hundred commands on one thing at the same time. */

const Raised = defineEvent({ type: 'Raised', description: 'A bid was raised.', data: z.strictObject({ to: z.number() }) });
type Bid = EventsOf<[typeof Raised]>;
const bids: Decider<{ readonly high: number }, { readonly by: number }, Bid> = {
  category: 'bid',
  initial: { high: 0 },
  decide: ({ by }, { high }) => [{ type: 'Raised', data: { to: high + by } }],
  evolve: (_state, event) => ({ high: event.data.to }),
};
const noKeys: Keyring = { ensureKey: async () => Promise.reject(new Error('nothing here is sensitive')), keys: async () => new Map() };

const ids = new TimeOrderedIds();
const newMeta = (): CommandMeta => ({ commandId: ids.next(), actor: 'user:test', correlationId: ids.next(), now: new Date() });

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
  const decisions = new Decisions(log, new EventCodec(new EventCatalogue([Raised]), noKeys));
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
