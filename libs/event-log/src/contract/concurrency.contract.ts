import fc from 'fast-check';
import {
  type AppendResult,
  type ExpectedRevision,
  isWrongExpectedRevision,
  type NewEvent,
  type Position,
  type StoredEvent,
} from '@app/kernel';
import type { EventLog } from '../event-log';
import { newCategory, newEvents, type GetLog, withLog } from './log-under-test.contract';

interface Step {
  readonly stream: number;
  readonly count: number;
  readonly expected: ExpectedRevision;
  /** Whether the same append is sent twice. */
  readonly twice: boolean;
}

interface Sent {
  readonly stream: string;
  readonly events: readonly NewEvent[];
  readonly answers: readonly (AppendResult | 'rejected')[];
}

const step: fc.Arbitrary<Step> = fc.record({
  stream: fc.nat(2),
  count: fc.integer({ min: 1, max: 4 }),
  expected: fc.oneof(fc.constant('noStream' as const), fc.nat(6)),
  twice: fc.integer({ min: 0, max: 4 }).map((drawn) => drawn === 0),
});

const send = async (log: EventLog, category: string, { stream, count, expected, twice }: Step): Promise<Sent> => {
  const name = `${category}-${stream}`;
  const events = newEvents(count);
  const once = async (): Promise<AppendResult | 'rejected'> => {
    try {
      return await log.append(name, events, expected);
    } catch (error) {
      if (isWrongExpectedRevision(error)) return 'rejected';
      throw error;
    }
  };
  return { stream: name, events, answers: await Promise.all(twice ? [once(), once()] : [once()]) };
};

export const concurrencyContract = (shared: GetLog): void => {
  it(
    'holds what it acknowledged and nothing else, whoever writes at the same time',
    withLog(shared, async (log, _category, { after = null }) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(step, { maxLength: 4 }), { minLength: 1, maxLength: 8 }),
          async (writers) => {
            const category = newCategory();
            const sent = await Promise.all(
              writers.map(async (steps) => {
                const own: Sent[] = [];
                for (const next of steps) own.push(await send(log, category, next));
                return own;
              }),
            );
            const stored = await readCategory(log, category, after);
            expectStoredAsAnswered(sent.flat(), stored);
            expectContiguous(stored);
          },
        ),
        { numRuns: 25 },
      );
    }),
  );

  it(
    'lets one of a hundred appends at the same revision win',
    withLog(shared, async (log, category) => {
      for (let revision = -1; revision < 3; revision += 1) {
        const outcomes = await Promise.allSettled(
          Array.from({ length: 100 }, () =>
            log.append(`${category}-1`, newEvents(1), revision < 0 ? 'noStream' : revision),
          ),
        );
        expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      }
      expect(await log.readStream(`${category}-1`)).toHaveLength(4);
    }),
  );
};

const readCategory = async (log: EventLog, category: string, start: Position | null): Promise<StoredEvent[]> => {
  const events: StoredEvent[] = [];
  for (let after = start; ;) {
    const page = await log.readAll({ after, filter: { streamPrefixes: [category] } });
    events.push(...page.events);
    if (page.end) return events;
    after = page.next;
  }
};

/** All appends that were answered stand where the answer says, whole and once; none that was rejected does. */
const expectStoredAsAnswered = (sent: readonly Sent[], stored: readonly StoredEvent[]): void => {
  const byId = new Map(stored.map((event) => [event.id, event]));
  expect(byId.size).toBe(stored.length);
  const answered = sent.filter(({ answers }) => answers.some((answer) => answer !== 'rejected'));
  expect(answered.flatMap(({ events }) => events.map(({ id }) => id)).toSorted()).toEqual([...byId.keys()].toSorted());
  for (const { stream, events, answers } of answered) {
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    const answer = answers[0] as AppendResult;
    const found = events.map(({ id }) => byId.get(id));
    expect(found.map((event) => [event?.stream, event?.revision])).toEqual(
      events.map((_event, index) => [stream, answer.revision - events.length + 1 + index]),
    );
    expect(found.at(-1)?.position).toBe(answer.position);
  }
};

const expectContiguous = (stored: readonly StoredEvent[]): void => {
  for (const stream of new Set(stored.map((event) => event.stream))) {
    const revisions = stored.filter((event) => event.stream === stream).map(({ revision }) => revision);
    expect(revisions).toEqual(revisions.map((_revision, index) => index));
  }
  expect(stored.map(({ position }) => position)).toEqual(stored.map(({ position }) => position).toSorted());
};
