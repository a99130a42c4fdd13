import { type RecordedEvent, Unavailable } from '@app/kernel';
import type { Policy } from '@app/projecting';
import { counted, memoryProjecting, opened, policiesOver, stored } from '../fixtures/counters';
import { MemoryLog, positionOf } from '../fixtures/memory-log';
import { MemoryReadStore } from '../fixtures/memory-read-store';
import { until } from '../fixtures/until';
import { rounds, seed, seededNumbers } from './log/rounds';
import { foldLog } from './projecting/counter-stores';

/** Fault 9: every event delivered 2 to 5 times. Fault 10: n+1 before n, or a gap. Fault 17: a poison event. */

const number = seededNumbers();
const LONG = 10_000;

const fill = async (log: MemoryLog): Promise<string> => {
  for (let index = 0; index < 60; index += 1) {
    const stream = `counter-${index % 7}`;
    await log.append(stream, index < 7 ? [opened(stream)] : [counted(index % 5)], 'any');
  }
  return (await log.head()) ?? '';
};

const rowsOf = async (readStore: MemoryReadStore): Promise<string> =>
  JSON.stringify(
    (await readStore.find('counters', { limit: 100 })).map(({ key, row }) => [key, row['count']]).toSorted(),
  );
const countsIn = (fold: string): string =>
  JSON.stringify(
    (JSON.parse(fold) as [string, { count: number }][]).map(([key, { count }]) => [key, count]).toSorted(),
  );

test(`the same rows when every event comes 2 to 5 times, out of step with the pages (SEED=${seed})`, async () => {
  for (let round = 0; round < rounds(5); round += 1) {
    const { log, readStore, projecting } = memoryProjecting();
    log.deliver = async (events, upTo, hand) => {
      for (let time = 2 + number(4); time > 0; time -= 1) {
        const from = number(events.length + 1);
        const part = events.slice(from, from + 1 + number(events.length));
        const last = part.at(-1);
        // A part from the middle would be a gap: only what was handled before comes again.
        if (time > 1 && last !== undefined && from === 0) await hand(part, last.position);
        else await hand(events, upTo);
      }
    };
    await projecting.start();
    await projecting.waitFor('counters', await fill(log), LONG);
    expect(await rowsOf(readStore)).toBe(countsIn(await foldLog(log)));
    expect(await projecting.deadLetters()).toEqual([]);
    await projecting.stop();
  }
});

test('a page in the wrong order is not applied: the view waits, says so, and goes on when the order is right', async () => {
  const { log, readStore, projecting } = memoryProjecting();
  let failures = 0;
  projecting.events.on('failed', () => (failures += 1));
  log.deliver = (events, upTo, hand) => hand(failures < 2 ? events.toReversed() : events, upTo);
  const head = await fill(log);
  await projecting.start();
  expect(await projecting.waitFor('counters', head, LONG)).toBe(true);
  expect(failures).toBe(2);
  expect(await rowsOf(readStore)).toBe(countsIn(await foldLog(log)));
  await projecting.stop();
});

test('an event that comes after later ones is never skipped: it becomes a dead letter that can be retried', async () => {
  const { log, readStore, projecting } = memoryProjecting();
  await log.append('counter-a', [opened('a'), counted(5)], 'noStream');
  await log.append('counter-b', [opened('b')], 'noStream');
  await projecting.start();
  await projecting.waitFor('counters', positionOf(3), LONG);
  log.deliver = () => Promise.reject(new Unavailable('log', 'held back'));
  await log.append('counter-a', [counted(1)], 1);
  await log.append('counter-b', [counted(2)], 0);
  log.deliver = async (events, upTo, hand) => {
    await hand(events.slice(1), upTo);
    await hand(events.slice(0, 1), upTo);
  };
  await until(async () => (await projecting.deadLetters()).length === 1);
  expect(await projecting.deadLetters()).toMatchObject([{ stream: 'counter-a', revision: 2, reason: 'order' }]);
  expect((await readStore.get('counters', 'counter-b'))?.row['count']).toBe(2);
  const [letter] = await projecting.deadLetters();
  expect(await projecting.retryDeadLetter(letter?.id ?? '')).toBeUndefined();
  expect((await readStore.get('counters', 'counter-a'))?.row['count']).toBe(6);
  await projecting.stop();
});

test('a poison event is parked and said once; others go on, and nothing spins', async () => {
  const { log, readStore, projecting } = memoryProjecting();
  const said: string[] = [];
  projecting.events.on('deadLettered', ({ reason }) => said.push(reason));
  await projecting.start();
  await log.append('counter-a', [opened('a'), stored('Counted', { by: 'many' }), counted(1)], 'noStream');
  const { position } = await log.append('counter-b', [opened('b')], 'noStream');
  await projecting.waitFor('counters', position, LONG);
  const commits = readStore.commits.length;
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(readStore.commits.length).toBe(commits);
  expect(said).toEqual(['schema']);
  expect(await projecting.status('counters')).toMatchObject({ state: 'live', deadLetters: 1, rows: 2 });
  await projecting.stop();
});

test('a policy that is given events again has one effect each, by ids that come from the event', async () => {
  const log = new MemoryLog();
  log.deliver = async (events, upTo, hand) => {
    await hand(events, upTo);
    await hand(events, upTo);
  };
  const effects = new Map<string, string>();
  const policy: Policy = {
    name: 'mailing',
    types: ['CounterOpened'],
    react: async ({ context }: RecordedEvent) => void effects.set(context.id, context.stream),
  };
  const policies = policiesOver(log, [policy]);
  await policies.start();
  for (const name of ['a', 'b', 'c']) await log.append(`counter-${name}`, [opened(name)], 'noStream');
  await until(() => effects.size === 3);
  await policies.stop();
  expect([...effects.values()]).toEqual(['counter-a', 'counter-b', 'counter-c']);
});
