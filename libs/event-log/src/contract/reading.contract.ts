import fc from 'fast-check';
import type { Position, StoredEvent } from '@app/kernel';
import type { EventLog, ReadAllOptions } from '../event-log';
import { newEvent, newEvents, type GetLog, withLog } from './log-under-test.contract';

const idsOf = (events: readonly { readonly id: string }[]): string[] => events.map(({ id }) => id);

/** All pages from where the options begin to the end, or back to a position. */
const allPages = async (
  log: EventLog,
  options: ReadAllOptions,
  downTo: Position | null = null,
): Promise<StoredEvent[]> => {
  const events: StoredEvent[] = [];
  for (let after = options.after ?? null; ;) {
    const page = await log.readAll({ ...options, after });
    events.push(...page.events);
    if (page.end || (downTo !== null && page.next !== null && page.next <= downTo)) return events;
    after = page.next;
  }
};

export const readingContract = (shared: GetLog): void => {
  describe('a stream', () => {
    it(
      'is empty when nobody wrote to it',
      withLog(shared, async (log, category) => {
        expect(await log.readStream(`${category}-1`)).toEqual([]);
        expect(await log.readStream(`${category}-1`, { direction: 'backwards' })).toEqual([]);
        expect(await log.readStream(`${category}-1`, { from: 7 })).toEqual([]);
      }),
    );

    it(
      'is read from a revision on, inclusive, both ways and with a limit',
      withLog(shared, async (log, category) => {
        await log.append(`${category}-1`, newEvents(5), 'noStream');
        await log.append(`${category}-2`, newEvents(5), 'noStream');
        const revisions = async (options: Parameters<EventLog['readStream']>[1]): Promise<number[]> =>
          (await log.readStream(`${category}-1`, options)).map(({ revision }) => revision);

        expect(await revisions({})).toEqual([0, 1, 2, 3, 4]);
        expect(await revisions({ from: 3 })).toEqual([3, 4]);
        expect(await revisions({ from: 5 })).toEqual([]);
        expect(await revisions({ from: 1, limit: 2 })).toEqual([1, 2]);
        expect(await revisions({ direction: 'backwards' })).toEqual([4, 3, 2, 1, 0]);
        expect(await revisions({ direction: 'backwards', from: 2 })).toEqual([2, 1, 0]);
        expect(await revisions({ direction: 'backwards', limit: 1 })).toEqual([4]);
        expect(await revisions({ direction: 'backwards', from: 9 })).toEqual([4, 3, 2, 1, 0]);
      }),
    );

    it(
      'shows an append to whoever reads after its answer',
      withLog(shared, async (log, category) => {
        for (let revision = 0; revision < 20; revision += 1) {
          expect(await log.readStream(`${category}-1`, { from: revision })).toEqual([]);
          await log.append(`${category}-1`, newEvents(1), revision === 0 ? 'noStream' : revision - 1);
          expect((await log.readStream(`${category}-1`, { from: revision })).map((event) => event.revision)).toEqual([
            revision,
          ]);
        }
      }),
    );

    it(
      'of any length is read whole',
      withLog(shared, async (log, category) => {
        await log.append(`${category}-1`, newEvents(1_201), 'noStream');

        expect(await log.readStream(`${category}-1`)).toHaveLength(1_201);
        expect(
          (await log.readStream(`${category}-1`, { direction: 'backwards' })).map(({ revision }) => revision),
        ).toEqual(Array.from({ length: 1_201 }, (_, index) => 1_200 - index));
      }),
    );
  });

  describe('the whole log', () => {
    it(
      'gives every event once, in order, in pages of any size, both ways',
      withLog(shared, async (log, category) => {
        const before = await log.head();
        const written: string[] = [];
        for (let index = 0; index < 30; index += 1) {
          const events = newEvents(1 + (index % 3));
          written.push(...idsOf(events));
          await log.append(`${category}-${index % 4}`, events, 'any');
        }
        const head = await log.head();
        await fc.assert(
          fc.asyncProperty(fc.integer({ min: 1, max: 70 }), async (limit) => {
            const filter = { streamPrefixes: [`${category}-`] };
            expect(idsOf(await allPages(log, { after: before, limit, filter }))).toEqual(written);
            expect(idsOf(await allPages(log, { direction: 'backwards', limit, filter }, before))).toEqual(
              written.toReversed(),
            );
            expect((await log.readAll({ after: before, limit })).events.length).toBeLessThanOrEqual(limit);
          }),
          { numRuns: 15 },
        );
        expect((await log.readAll({ after: head })).events).toEqual([]);
      }),
    );

    it(
      'leaves out the event at `after`, in both directions',
      withLog(shared, async (log, category) => {
        const before = await log.head();
        await log.append(`${category}-1`, newEvents(3), 'noStream');
        const [first, second, third] = await log.readStream(`${category}-1`);
        const at = second?.position ?? null;

        expect(idsOf((await log.readAll({ after: before, limit: 1 })).events)).toEqual([first?.id]);
        expect(idsOf((await log.readAll({ after: at, limit: 1 })).events)).toEqual([third?.id]);
        expect(idsOf((await log.readAll({ after: at, direction: 'backwards', limit: 1 })).events)).toEqual([first?.id]);
      }),
    );

    it(
      'filters by type, by prefix and by both, and passes over the rest',
      withLog(shared, async (log, category) => {
        const before = await log.head();
        await log.append(`${category}a-1`, [newEvent({ type: 'Opened' }), newEvent({ type: 'Closed' })], 'noStream');
        await log.append(`${category}b-1`, [newEvent({ type: 'Opened' }), newEvent({ type: 'Moved' })], 'noStream');
        const found = async (filter: ReadAllOptions['filter']): Promise<string[]> =>
          (await allPages(log, { after: before, ...(filter && { filter }) }))
            .filter(({ stream }) => stream.startsWith(category))
            .map(({ stream, type }) => `${stream.slice(category.length)} ${type}`);

        expect(await found({ types: ['Opened', 'Moved'] })).toEqual(['a-1 Opened', 'b-1 Opened', 'b-1 Moved']);
        expect(await found({ streamPrefixes: [`${category}b-`] })).toEqual(['b-1 Opened', 'b-1 Moved']);
        expect(await found({ types: ['Opened'], streamPrefixes: [`${category}a-`, `${category}c-`] })).toEqual([
          'a-1 Opened',
        ]);
        expect(await found({ types: [] })).toEqual([]);
        const none = await log.readAll({ after: before, filter: { types: ['NeverWritten'] } });
        expect(none.events).toEqual([]);
        expect(none.next).not.toBe(before);
      }),
    );
  });

  describe('a position', () => {
    it(
      'leads to the event that stands there, also after a restart, and to none behind the end',
      withLog(shared, async (log, category, { reopen }) => {
        await log.append(`${category}-1`, newEvents(3), 'noStream');
        const events = await log.readStream(`${category}-1`);
        const last = events.at(-1)?.position ?? '';
        const beyond = String(BigInt(last) + 10n ** 9n).padStart(last.length, '0');
        const look = async (opened: EventLog): Promise<void> => {
          for (const event of events) expect(await opened.eventAt(event.position)).toEqual(event);
          expect(await opened.eventAt(beyond)).toBeUndefined();
        };
        await look(log);
        await look(await reopen());
      }),
    );

    it(
      'tells a removed event from one that never stood there',
      withLog(shared, async (log, category, { beside, reopen }) => {
        await log.append(`${category}-1`, newEvents(3), 'noStream');
        const positions = (await log.readStream(`${category}-1`)).map(({ position }) => position);
        await log.truncate(`${category}-1`, 2);
        const look = async (opened: EventLog): Promise<void> => {
          const found = await Promise.all(positions.map((position) => opened.eventAt(position)));
          expect(found).toEqual(['removed', 'removed', expect.objectContaining({ revision: 2 })]);
        };
        await look(log);
        if (beside !== undefined) await look(beside);
        await look(await reopen());
      }),
    );

    it(
      'of another form is rejected',
      withLog(shared, async (log) => {
        for (const text of ['nowhere', '', '12', '-000000000000001'])
          await expect(log.eventAt(text)).rejects.toThrow(RangeError);
      }),
    );
  });

  describe('removal', () => {
    it(
      'by truncation leaves no trace of the first events and keeps the numbers of the others',
      withLog(shared, async (log, category) => {
        const before = await log.head();
        await log.append(`${category}-1`, newEvents(5), 'noStream');
        const kept = (await log.readStream(`${category}-1`)).slice(3);

        await log.truncate(`${category}-1`, 3);

        expect(await log.readStream(`${category}-1`)).toEqual(kept);
        expect(await log.readStream(`${category}-1`, { direction: 'backwards' })).toEqual(kept.toReversed());
        expect(await allPages(log, { after: before, filter: { streamPrefixes: [`${category}-`] } })).toEqual(kept);
        expect((await log.append(`${category}-1`, newEvents(1), 4)).revision).toBe(5);
      }),
    );

    it(
      'of a stream leaves nothing; a later append goes on at the next revision',
      withLog(shared, async (log, category, { reopen }) => {
        const before = await log.head();
        await log.append(`${category}-1`, newEvents(3), 'noStream');
        await log.append(`${category}-2`, newEvents(1), 'noStream');

        await log.delete(`${category}-1`, 2);

        expect(await log.readStream(`${category}-1`)).toEqual([]);
        expect(
          (await allPages(log, { after: before, filter: { streamPrefixes: [`${category}-`] } })).map(
            ({ stream }) => stream,
          ),
        ).toEqual([`${category}-2`]);
        const reopened = await reopen();
        expect((await reopened.append(`${category}-1`, newEvents(1), 'noStream')).revision).toBe(3);
        expect((await reopened.readStream(`${category}-1`)).map(({ revision }) => revision)).toEqual([3]);
      }),
    );

    it(
      'rejects a deletion whose expectation does not hold',
      withLog(shared, async (log, category) => {
        await log.append(`${category}-1`, newEvents(2), 'noStream');

        await expect(log.delete(`${category}-1`, 0)).rejects.toMatchObject({
          name: 'WrongExpectedRevision',
          actual: 1,
        });
        await expect(log.delete(`${category}-2`, 'streamExists')).rejects.toMatchObject({
          name: 'WrongExpectedRevision',
          actual: -1,
        });

        expect(await log.readStream(`${category}-1`)).toHaveLength(2);
      }),
    );
  });
};
