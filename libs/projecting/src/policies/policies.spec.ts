import type { LogPage, ReadAllOptions } from '@app/event-log';
import { type Plain, type RecordedEvent, systemClock, Unavailable } from '@app/kernel';
import { Leases, Processes } from '@app/coordination';
import { Policies, type Policy, type PolicyStatus } from '@app/projecting';
import {
  counted,
  counterCodec,
  elsewhere,
  MemoryLogger,
  opened,
  policiesOver,
} from '../../../../test/fixtures/counters';
import { MemoryLog } from '../../../../test/fixtures/memory-log';
import { MemoryCoordinationStore } from '../../../../test/fixtures/memory-coordination-store';
import { until } from '../../../../test/fixtures/until';

/** Remembers what it saw; reacts to `{ by: 13 }`, or another number, by failing as often as told. */
class Watching implements Policy {
  readonly name = 'watching';
  readonly types = ['CounterOpened', 'Counted'];
  readonly seen: string[] = [];
  failures = 0;
  failsAt = 13;
  error: () => Error = () => new RangeError('secret content');

  async react({ type, data, context }: RecordedEvent): Promise<void> {
    if (data['by'] === this.failsAt && this.failures > 0) {
      this.failures -= 1;
      throw this.error();
    }
    this.seen.push(`${type} ${context.stream}@${context.revision}`);
  }
}

/** Reads few events at a time, whatever passes the filter, and notes from where. */
class SmallPages extends MemoryLog {
  readonly starts: (string | null)[] = [];

  override async readAll(options: ReadAllOptions = {}): Promise<LogPage> {
    if (options.direction === 'backwards') return super.readAll(options);
    const { filter, ...unfiltered } = options;
    this.starts.push(options.after ?? null);
    const { events, next, end } = await super.readAll({ ...unfiltered, limit: 5 });
    return { events: events.filter(({ type }) => filter?.types?.includes(type) ?? true), next, end };
  }
}

const running = async ({ log = new MemoryLog(), coordination = new MemoryCoordinationStore(), failures = 0 } = {}) => {
  const policy = new Watching();
  policy.failures = failures;
  const policies = policiesOver(log, [policy], coordination);
  await policies.start();
  return { log, coordination, policy, policies };
};

describe('Policies', () => {
  it('react to every event once, and keep their place in the log', async () => {
    const { log, policy, policies, coordination } = await running();
    await log.append('counter-a', [opened('a'), counted()], 'noStream');
    await until(() => policy.seen.length === 2);
    await policies.stop();
    expect(
      log.events.filter(({ stream }) => stream === 'policy-watching').map(({ data }) => JSON.parse(data) as object),
    ).toMatchObject([{ stream: 'counter-a', revision: 1 }]);

    const again = await running({ log, coordination });
    await log.append('counter-a', [counted()], 'any');
    await until(() => again.policy.seen.length > 0);
    expect(again.policy.seen).toEqual(['Counted counter-a@2']);
    await again.policies.stop();
  });

  it('repeat nothing when the view stores are lost and the log was imported at other positions', async () => {
    const { log, policy, policies } = await running();
    await log.append('counter-a', [opened('a'), counted()], 'noStream');
    await until(() => policy.seen.length === 2);
    await policies.stop();
    const imported = new MemoryLog();
    await imported.append('before-1', [opened('import')], 'any');
    imported.events.splice(0);
    for (const event of log.events) await imported.append(event.stream, [event], 'any');
    await imported.append('counter-a', [counted()], 'any');
    const again = await running({ log: imported });
    await until(() => again.policy.seen.length > 0);
    expect(again.policy.seen).toEqual(['Counted counter-a@2']);
    await again.policies.stop();
  });

  it('go back to an event that is still there when the last one was removed', async () => {
    const { log, policy, policies } = await running();
    await log.append('counter-a', [opened('a')], 'noStream');
    await until(() => policy.seen.length === 1);
    await policies.stop();
    const again = await running({ log });
    await log.append('counter-b', [opened('b')], 'noStream');
    await until(() => again.policy.seen.length === 1);
    await again.policies.stop();
    await log.delete('counter-b');
    const third = await running({ log });
    await log.append('counter-c', [opened('c')], 'noStream');
    await until(() => third.policy.seen.length > 0);
    expect(third.policy.seen).toEqual(['CounterOpened counter-c@0']);
    await third.policies.stop();
  });

  it('do not read again what they passed over', async () => {
    const log = new SmallPages();
    const watching = await running({ log });
    await watching.policies.stop();
    await log.append('other-a', Array.from({ length: 100 }, elsewhere), 'noStream');
    const passing = await running({ log });
    await until(() => log.events.some(({ stream }) => stream === 'policy-watching'));
    await passing.policies.stop();
    log.starts.length = 0;
    const again = await running({ log });
    await log.append('counter-a', [opened('a')], 'noStream');
    await until(() => again.policy.seen.length === 1);
    expect(log.starts[0]).toBe(log.events[98]?.position);
    await again.policies.stop();
  });

  it('try again, and make a dead letter of what fails too often while other streams flow', async () => {
    const { log, policy, policies } = await running({ failures: 5 });
    await log.append('counter-a', [opened('a'), counted(13), counted(2)], 'noStream');
    await log.append('counter-b', [opened('b')], 'noStream');
    await until(async () => (await policies.deadLetters()).length === 1);
    await until(() => policy.seen.includes('CounterOpened counter-b@0'));
    expect(policy.seen).not.toContain('Counted counter-a@2');
    expect(await policies.deadLetters()).toMatchObject([
      { source: 'policy', name: 'watching', stream: 'counter-a', revision: 1, reason: 'reaction', attempts: 5 },
    ]);
    expect(JSON.stringify(log.events)).not.toContain('secret content');
    const [letter] = await policies.deadLetters();
    expect(await policies.retryDeadLetter(letter?.id ?? '')).toBeUndefined();
    expect(policy.seen.slice(-2)).toEqual(['Counted counter-a@1', 'Counted counter-a@2']);
    await policies.stop();
  });

  it('know their dead letters after a restart, and discard them', async () => {
    const first = await running({ failures: 5 });
    await first.log.append('counter-a', [opened('a'), counted(13), counted(2)], 'noStream');
    await until(async () => (await first.policies.deadLetters()).length === 1);
    await first.policies.stop();
    const second = await running({ log: first.log });
    const [letter] = await second.policies.deadLetters();
    expect(await second.policies.discardDeadLetter(letter?.id ?? '')).toBeUndefined();
    expect(second.policy.seen).toEqual(['Counted counter-a@2']);
    await second.policies.stop();
    const third = await running({ log: first.log });
    expect(await third.policies.deadLetters()).toEqual([]);
    await third.policies.stop();
  });

  it.each([
    ['retry', ['Counted counter-a@1', 'Counted counter-a@2']],
    ['discard', ['Counted counter-a@2']],
  ] as const)(
    'lose nothing that waits behind a dead letter when they stop while it is settled: %s',
    async (way, seen) => {
      const first = await running({ failures: 5 });
      await first.log.append('counter-a', [opened('a'), counted(13), counted(2)], 'noStream');
      await until(async () => (await first.policies.deadLetters()).length === 1);
      const settle = async ({ policies }: typeof first) =>
        policies[`${way}DeadLetter`]((await policies.deadLetters())[0]?.id ?? '');
      Object.assign(first.policy, { failsAt: 2, failures: Infinity, error: () => new Unavailable('log', 'away') });
      const settling = Promise.allSettled([settle(first)]);
      await until(async () => (await first.policies.status())[0]?.failure !== undefined);
      await first.policies.stop();
      expect(await settling).toMatchObject([{ status: 'rejected' }]);
      const second = await running({ log: first.log });
      expect(await second.policies.deadLetters()).toHaveLength(1);
      expect(await settle(second)).toBeUndefined();
      expect(second.policy.seen).toEqual(seen);
      await second.policies.stop();
    },
  );

  it('hold a stream at the next event that fails behind a dead letter', async () => {
    const { log, policy, policies } = await running({ failures: 5 });
    await log.append('counter-a', [opened('a'), counted(13), counted(2), counted(3)], 'noStream');
    await until(async () => (await policies.deadLetters()).length === 1);
    Object.assign(policy, { failsAt: 2, failures: 5 });
    const [letter] = await policies.deadLetters();
    expect(await policies.retryDeadLetter(letter?.id ?? '')).toMatchObject({ revision: 2, attempts: 5 });
    await policies.stop();
    const again = await running({ log });
    expect(await again.policies.deadLetters()).toMatchObject([{ revision: 2 }]);
    const [next] = await again.policies.deadLetters();
    expect(await again.policies.retryDeadLetter(next?.id ?? '')).toBeUndefined();
    expect(again.policy.seen).toEqual(['Counted counter-a@2', 'Counted counter-a@3']);
    await again.policies.stop();
  });

  it('are seen to fall behind by others when nobody runs them any more', async () => {
    const { log, policy, policies, coordination } = await running();
    await log.append('counter-a', [opened('a')], 'noStream');
    await until(() => policy.seen.length === 1);
    const [told] = await policies.status();
    await policies.stop();
    // As the process that ran them told it; a status is plain JSON.
    await coordination.write('policies', [told as Plain<PolicyStatus>]);
    await log.append('counter-a', [counted()], 'any');
    const beside = { store: coordination, clock: systemClock, logger: new MemoryLogger() };
    const leases = new Leases({
      ...beside,
      processes: new Processes({ ...beside, id: 'onlooker', roles: ['api'], version: '1', alone: false }),
    });
    const onlooker = new Policies({ ...beside, log, coordination, policies: [policy], codec: counterCodec, leases });
    const unseen = log.events.filter(({ position }) => position > (told?.position ?? ''));
    expect(unseen.length).toBeGreaterThan(0);
    expect(await onlooker.status()).toMatchObject([{ name: 'watching', state: 'stopped', lagEvents: unseen.length }]);
  });

  it('wait out what is unavailable', async () => {
    const { log, policy, policies } = await running();
    policy.failures = 5;
    policy.error = () => new Unavailable('log', 'away');
    await log.append('counter-a', [opened('a'), counted(13)], 'noStream');
    await until(() => policy.seen.length === 2);
    expect(await policies.deadLetters()).toEqual([]);
    await policies.stop();
  });
});
