import { type RecordedEvent, Unavailable } from '@app/kernel';
import type { Policy } from '@app/projecting';
import { counted, opened, policiesOver, until } from '../../../test/fixtures/counters';
import { MemoryLog } from '../../../test/fixtures/memory-log';
import { MemoryReadStore } from '../../../test/fixtures/memory-read-store';

/** Remembers what it saw; reacts to `{ by: 13 }` by failing as often as told. */
class Watching implements Policy {
  readonly name = 'watching';
  readonly types = ['CounterOpened', 'Counted'];
  readonly seen: string[] = [];
  failures = 0;
  error: () => Error = () => new RangeError('secret content');

  async react({ type, data, context }: RecordedEvent): Promise<void> {
    if (data['by'] === 13 && this.failures > 0) {
      this.failures -= 1;
      throw this.error();
    }
    this.seen.push(`${type} ${context.stream}@${context.revision}`);
  }
}

const running = async ({ log = new MemoryLog(), readStore = new MemoryReadStore(), failures = 0 } = {}) => {
  const policy = new Watching();
  policy.failures = failures;
  const policies = policiesOver(log, readStore, [policy]);
  await policies.start();
  return { log, readStore, policy, policies };
};

describe('Policies', () => {
  it('react to every event once, and keep their place in the log', async () => {
    const { log, policy, policies, readStore } = await running();
    await log.append('counter-a', [opened('a'), counted()], 'noStream');
    await until(() => policy.seen.length === 2);
    await policies.stop();
    expect(log.events.filter(({ stream }) => stream === 'policy-watching').map(({ data }) => JSON.parse(data) as object)).toMatchObject([{ stream: 'counter-a', revision: 1 }]);

    const again = await running({ log, readStore });
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

  it('try again, and make a dead letter of what fails too often while other streams flow', async () => {
    const { log, policy, policies } = await running({ failures: 5 });
    await log.append('counter-a', [opened('a'), counted(13), counted(2)], 'noStream');
    await log.append('counter-b', [opened('b')], 'noStream');
    await until(() => policies.deadLetters().length === 1);
    await until(() => policy.seen.includes('CounterOpened counter-b@0'));
    expect(policy.seen).not.toContain('Counted counter-a@2');
    expect(policies.deadLetters()).toMatchObject([{ source: 'policy', name: 'watching', stream: 'counter-a', revision: 1, reason: 'reaction', attempts: 5 }]);
    expect(JSON.stringify(log.events)).not.toContain('secret content');
    const [letter] = policies.deadLetters();
    expect(await policies.retryDeadLetter(letter?.id ?? '')).toBeUndefined();
    expect(policy.seen.slice(-2)).toEqual(['Counted counter-a@1', 'Counted counter-a@2']);
    await policies.stop();
  });

  it('know their dead letters after a restart, and discard them', async () => {
    const first = await running({ failures: 5 });
    await first.log.append('counter-a', [opened('a'), counted(13), counted(2)], 'noStream');
    await until(() => first.policies.deadLetters().length === 1);
    await first.policies.stop();
    const second = await running({ log: first.log });
    const [letter] = second.policies.deadLetters();
    expect(await second.policies.discardDeadLetter(letter?.id ?? '')).toBeUndefined();
    expect(second.policy.seen).toEqual(['Counted counter-a@2']);
    await second.policies.stop();
    const third = await running({ log: first.log });
    expect(third.policies.deadLetters()).toEqual([]);
    await third.policies.stop();
  });

  it('wait out what is unavailable', async () => {
    const { log, policy, policies } = await running();
    policy.failures = 5;
    policy.error = () => new Unavailable('log', 'away');
    await log.append('counter-a', [opened('a'), counted(13)], 'noStream');
    await until(() => policy.seen.length === 2);
    expect(policies.deadLetters()).toEqual([]);
    await policies.stop();
  });
});
