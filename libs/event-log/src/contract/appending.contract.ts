import type { ExpectedRevision } from '@app/kernel';
import { InvalidAppend, MAX_APPEND_BYTES, MAX_EVENT_BYTES, MixedRepeat } from '../event-log';
import { newEvent, newEvents, type GetLog, withLog } from './log-under-test.contract';

export const appendingContract = (shared: GetLog): void => {
  it(
    'answers the last revision and position, and gives back what was appended',
    withLog(shared, async (log, category) => {
      const events = [
        newEvent({ type: 'Opened', data: '{"text":"Grüße 🙂 \\u0000 \\ud800"}' }),
        newEvent({ metadata: '{"actor":"user:1"}' }),
      ];

      const answer = await log.append(`${category}-1`, events, 'noStream');
      const stored = await log.readStream(`${category}-1`);

      expect(answer.revision).toBe(1);
      expect(stored).toEqual(
        events.map((event, revision) => ({
          ...event,
          stream: `${category}-1`,
          revision,
          position: expect.any(String),
        })),
      );
      expect(stored.at(-1)?.position).toBe(answer.position);
    }),
  );

  it(
    'assigns positions that increase as text in the order of commits, over all streams',
    withLog(shared, async (log, category) => {
      const positions: string[] = [];
      for (let index = 0; index < 20; index += 1)
        positions.push((await log.append(`${category}-${index % 3}`, newEvents(2), 'any')).position);

      expect(positions).toEqual(positions.toSorted());
      expect(new Set(positions).size).toBe(20);
    }),
  );

  const rejections: [string, number, ExpectedRevision, number][] = [
    ['noStream where the stream exists', 1, 'noStream', 0],
    ['streamExists where it does not', 0, 'streamExists', -1],
    ['a revision behind the end', 3, 1, 2],
    ['a revision ahead of the end', 1, 4, 0],
    ['a revision of an unknown stream', 0, 0, -1],
  ];
  it.each(rejections)('rejects %s, and stores nothing', (_name, existing, expected, actual) =>
    withLog(shared, async (log, category) => {
      if (existing > 0) await log.append(`${category}-1`, newEvents(existing), 'noStream');

      await expect(log.append(`${category}-1`, newEvents(2), expected)).rejects.toMatchObject({
        name: 'WrongExpectedRevision',
        stream: `${category}-1`,
        expected,
        actual,
      });

      expect(await log.readStream(`${category}-1`)).toHaveLength(existing);
    })(),
  );

  it(
    'accepts each expectation that holds',
    withLog(shared, async (log, category) => {
      const revisions: number[] = [];
      for (const expected of ['any', 'any', 'streamExists', 2] as const)
        revisions.push((await log.append(`${category}-1`, newEvents(1), expected)).revision);

      expect(revisions).toEqual([0, 1, 2, 3]);
    }),
  );

  it(
    'fails only the append that conflicts, not those beside it',
    withLog(shared, async (log, category) => {
      const outcomes = await Promise.allSettled([
        log.append(`${category}-1`, newEvents(1), 'noStream'),
        log.append(`${category}-1`, newEvents(2), 'noStream'),
        log.append(`${category}-2`, newEvents(1), 'noStream'),
        log.append(`${category}-1`, newEvents(3), 0),
      ]);

      expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
      expect(await log.readStream(`${category}-1`)).toHaveLength(4);
    }),
  );

  it.each<[string, ExpectedRevision]>([
    ['noStream', 'noStream'],
    ['an exact revision', 1],
  ])('answers a repeat at %s as the first time, with later events and a restart in between', (_name, expected) =>
    withLog(shared, async (log, category, { reopen }) => {
      const stream = `${category}-1`;
      if (expected === 1) await log.append(stream, newEvents(2), 'noStream');
      const events = newEvents(3);
      const first = await log.append(stream, events, expected);

      const atOnce = await log.append(stream, events, expected);
      await log.append(stream, newEvents(2), first.revision);
      const later = await log.append(stream, events, expected);
      const restarted = await reopen();

      expect([atOnce, later, await restarted.append(stream, events, expected)]).toEqual([first, first, first]);
      expect(await restarted.readStream(stream)).toHaveLength(first.revision + 3);
    })(),
  );

  it(
    'keeps the first data when a repeat brings others under the same ids',
    withLog(shared, async (log, category) => {
      const event = newEvent({ data: '{"text":"first"}' });
      const first = await log.append(`${category}-1`, [event], 'noStream');

      expect(await log.append(`${category}-1`, [{ ...event, data: '{"text":"second"}' }], 'noStream')).toEqual(first);
      expect((await log.readStream(`${category}-1`)).map(({ data }) => data)).toEqual(['{"text":"first"}']);
    }),
  );

  it(
    'writes known ids again at the present revision: ids are compared below the end only',
    withLog(shared, async (log, category) => {
      const events = newEvents(1);
      await log.append(`${category}-1`, events, 'noStream');

      expect((await log.append(`${category}-1`, events, 0)).revision).toBe(1);
    }),
  );

  it(
    'rejects a mix of known and new events',
    withLog(shared, async (log, category) => {
      const [first, second, third] = newEvents(3);
      if (first === undefined || second === undefined || third === undefined) throw new Error('three events were made');
      await log.append(`${category}-1`, [first, second], 'noStream');

      for (const mix of [
        [first, third],
        [third, second],
        [first, second, third],
      ]) {
        await expect(log.append(`${category}-1`, mix, 'noStream')).rejects.toThrow(MixedRepeat);
      }
      expect(await log.readStream(`${category}-1`)).toHaveLength(2);
    }),
  );

  it(
    'stores one of a hundred simultaneous repeats',
    withLog(shared, async (log, category) => {
      const events = newEvents(2);

      const answers = await Promise.all(
        Array.from({ length: 100 }, () => log.append(`${category}-1`, events, 'noStream')),
      );

      expect(new Set(answers.map(({ position }) => position)).size).toBe(1);
      expect(await log.readStream(`${category}-1`)).toHaveLength(2);
    }),
  );

  it(
    'rejects what no log can hold, and goes on',
    withLog(shared, async (log, category) => {
      const stream = `${category}-1`;
      const invalid: [string, ReturnType<typeof newEvents>][] = [
        [stream, []],
        ['', newEvents(1)],
        [stream, [newEvent({ type: '' })]],
        [stream, [newEvent(), newEvent({ id: 'not-a-uuid' })]],
        [stream, [newEvent({ id: '0190A0B0-0000-7000-8000-000000000000' })]],
      ];

      for (const [name, events] of invalid)
        await expect(log.append(name, events, 'any')).rejects.toThrow(InvalidAppend);

      expect((await log.append(stream, newEvents(1), 'noStream')).revision).toBe(0);
    }),
  );

  it(
    'rejects an event and an append that are too large, counting bytes',
    withLog(shared, async (log, category, { limits = { event: MAX_EVENT_BYTES, append: MAX_APPEND_BYTES } }) => {
      const large = newEvent({ data: `"${'ü'.repeat(limits.event / 2)}"` });
      const many = newEvents(Math.ceil(limits.append / 500_000), { data: `"${'x'.repeat(500_000)}"` });

      await expect(log.append(`${category}-1`, [large], 'any')).rejects.toMatchObject({
        name: 'DomainError',
        code: 'too_large',
        facts: { limit: limits.event },
      });
      await expect(log.append(`${category}-1`, many, 'any')).rejects.toMatchObject({
        name: 'DomainError',
        code: 'too_large',
        facts: { limit: limits.append },
      });
      expect(await log.readStream(`${category}-1`)).toEqual([]);
    }),
  );
};
