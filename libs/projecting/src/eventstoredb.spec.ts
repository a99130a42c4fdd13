import type { EventLog } from '@app/event-log';
import { type RecordedEvent, systemClock } from '@app/kernel';
import { counted, counterCodec, opened, policiesOver } from '../../../test/fixtures/counters';
import { appendsWithin, LaggingLogs } from '../../../test/fixtures/lagging-logs';
import { withRestoredServer } from '../../../test/fixtures/restored-server';
import { until } from '../../../test/fixtures/until';
import { PolicyJournal } from './policies/policy-journal';
import type { Policy } from './projection';

/** Two processes over one server, which decides before it shows. */
describe('policies on EventStoreDB', () => {
  let both: LaggingLogs;
  let first: EventLog;
  let second: EventLog;
  beforeEach(async () => {
    both = await LaggingLogs.open();
    [first, second] = both.logs as [EventLog, EventLog];
  });
  afterEach(() => both.close());

  const journal = (log: EventLog): PolicyJournal => new PolicyJournal('watching', log, counterCodec, systemClock);

  it('are fenced by a place that another recorded, once it can be read', async () => {
    await first.append('counter-a', [opened('a'), counted()], 'noStream');
    const [one, two] = await first.readStream('counter-a');
    if (one === undefined || two === undefined) throw new Error('two events were written');
    const journals = [journal(first), journal(second)] as const;
    expect(await Promise.all(journals.map((each) => each.place()))).toEqual([null, null]);
    both.hide();
    const won = journals[0].advance(two);
    await both.hidden();
    const lost = journals[1].advance(one).catch((error: unknown) => error);
    // What is asked for behind it is not shown either: the place is not known to have moved.
    expect(await journal(second).place()).toBeNull();
    both.show();
    await won;
    expect(await lost).toMatchObject({ name: 'WrongExpectedRevision', actual: 0 });
    expect(await journal(second).place()).toBe(two.position);
  });

  it('go on behind a place whose recording was not acknowledged', async () => {
    const seen: string[] = [];
    const appended = appendsWithin(first);
    const policy: Policy = {
      name: 'watching',
      types: ['CounterOpened', 'Counted'],
      react: async ({ context }: RecordedEvent) => void seen.push(`${context.stream}@${context.revision}`),
    };
    const policies = policiesOver(first, [policy]);
    await policies.start();
    await second.append('counter-a', [opened('a')], 'noStream');
    await until(() => seen.length === 1, 'the first event');
    both.hide();
    await both.hidden();
    const [lost] = appended.mock.results;
    await expect(lost?.value).rejects.toMatchObject({ name: 'Unavailable', outcome: 'unknown' });
    both.show();
    for (let revision = 0; revision < 3; revision += 1) {
      await second.append('counter-a', [counted()], revision);
      await until(() => seen.length === revision + 2, 'the next event');
      await until(
        async () =>
          (await journal(second).place()) ===
          (await second.readStream('counter-a', { from: revision + 1 }))[0]?.position,
        'its place',
      );
    }
    expect(seen).toEqual([0, 1, 2, 3].map((revision) => `counter-a@${revision}`));
    expect(await policies.status()).toMatchObject([{ state: 'running', lagEvents: expect.any(Number) as number }]);
    await policies.stop();
  });
});

test('a policy records no place that a restore of the log took away, and so passes over nothing that comes before it', () =>
  withRestoredServer(async ({ log, save, restore }) => {
    await log.append('counter-a', [opened('a')], 'noStream');
    save();
    await log.append('counter-b', [opened('b'), counted(), counted()], 'noStream');
    const [last] = await log.readStream('counter-b', { direction: 'backwards', limit: 1 });
    if (last === undefined) throw new Error('three events were written');
    await restore();

    await new PolicyJournal('watching', log, counterCodec, systemClock).advance(last);

    expect(await new PolicyJournal('watching', log, counterCodec, systemClock).place()).toBeNull();
  }));
