import { type EventLog, openEventStoreLog } from '@app/event-log';
import { Decisions, onBudget, WaitBudget } from '@app/kernel';
import { bidCodec, bids, newMeta } from '../fixtures/bids';
import { until } from '../fixtures/until';
import { type EventStoreDouble, startEventStoreDouble } from '../servers/eventstoredb/double';
import { SLOW_MS, TimeLimit } from './eventstore/history';

/** Faults 2, 12 and 21 on EventStoreDB: a command happens once, whoever did not hear of it. */

describe('commands on EventStoreDB', () => {
  let server: EventStoreDouble;
  let log: EventLog;
  const newDecisions = () => new Decisions(log, bidCodec);

  beforeEach(async () => {
    server = await startEventStoreDouble();
    log = await openEventStoreLog({ url: server.url });
  });
  afterEach(async () => {
    await log.close();
    await server.stop();
  });

  const raised = async () =>
    (await log.readStream('bid-one')).map(({ data }) => (JSON.parse(data) as { to: number }).to);

  it('whose answer was lost happened once, and a repeat later is answered with the same receipt', async () => {
    const [first, second] = [newMeta(), newMeta()];
    await newDecisions().transact(bids, 'one', { by: 1 }, newMeta());
    server.faults.dropAcknowledgements = 1;
    const raising = newDecisions().transact(bids, 'one', { by: 1 }, first);
    await until(() => server.faults.dropAcknowledgements === 0, 'an answer that is lost');
    // By the answer to what was appended behind it, it is known that it was lost.
    await newDecisions().transact(bids, 'other', { by: 1 }, newMeta());
    const receipt = await raising;
    await newDecisions().transact(bids, 'one', { by: 1 }, second);

    expect(await newDecisions().transact(bids, 'one', { by: 1 }, first)).toEqual({ ...receipt, repeated: true });
    expect(await raised()).toEqual([1, 2, 3]);
  });

  it('repeated after the outcome was not known happen once, though the server would write their ids again', async () => {
    const decisions = newDecisions();
    const meta = newMeta();
    await decisions.transact(bids, 'one', { by: 1 }, newMeta());
    server.faults.dropAcknowledgements = 100;
    await expect(
      onBudget(new WaitBudget(undefined, 1_000), () => decisions.transact(bids, 'one', { by: 1 }, meta)),
    ).rejects.toMatchObject({ name: 'Unavailable', outcome: 'unknown' });
    server.faults.dropAcknowledgements = 0;
    await newDecisions().transact(bids, 'one', { by: 1 }, newMeta());

    expect(await decisions.transact(bids, 'one', { by: 1 }, meta)).toMatchObject({ revision: 1, repeated: true });
    expect(await raised()).toEqual([1, 2, 3]);
  });

  it('fail within ten seconds in all while the server is silent', async () => {
    await newDecisions().transact(bids, 'one', { by: 1 }, newMeta());
    server.faults.isSilent = true;
    const limit = new TimeLimit(SLOW_MS);
    const started = performance.now();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, () =>
        onBudget(new WaitBudget(undefined), () => newDecisions().transact(bids, 'one', { by: 1 }, newMeta())),
      ),
    );

    expect(performance.now() - started).toBeLessThan(limit.most);
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'Unavailable', outcome: 'none' } });
  });

  it('of thirty at once all win in the end, one each revision', async () => {
    const decisions = newDecisions();
    const receipts = await Promise.all(
      Array.from({ length: 30 }, () => decisions.transact(bids, 'one', { by: 1 }, newMeta())),
    );

    expect(receipts.map(({ revision }) => revision).toSorted((a, b) => a - b)).toEqual(
      receipts.map((_, index) => index),
    );
    expect(await raised()).toEqual(receipts.map((_, index) => index + 1));
  });
});
