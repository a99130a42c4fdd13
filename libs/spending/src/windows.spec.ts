import * as fc from 'fast-check';
import { windowAt, type WindowSpec } from './windows';

const spec = (window: WindowSpec['window'], timeZone = 'UTC', anchor: string | null = null): WindowSpec => ({
  window,
  timeZone,
  anchor,
});
const at = (text: string) => Date.parse(text);

describe('the window of a time', () => {
  it.each<[string, WindowSpec, string, string | null, string | null]>([
    ['a day in UTC', spec('day'), '2026-11-21T23:59:59.999Z', '2026-11-21T00:00:00.000Z', '2026-11-22T00:00:00.000Z'],
    [
      'a month of long ago',
      spec('month'),
      '0050-06-15T12:00:00Z',
      '0050-06-01T00:00:00.000Z',
      '0050-07-01T00:00:00.000Z',
    ],
    [
      'a month of the year 0',
      spec('month'),
      '0000-01-15T12:00:00Z',
      '0000-01-01T00:00:00.000Z',
      '0000-02-01T00:00:00.000Z',
    ],
    [
      'a week before 1970',
      spec('week'),
      '1950-06-15T12:00:00Z',
      '1950-06-12T00:00:00.000Z',
      '1950-06-19T00:00:00.000Z',
    ],
    [
      'a day of 23 hours',
      spec('day', 'Europe/Berlin'),
      '2026-03-29T12:00:00Z',
      '2026-03-28T23:00:00.000Z',
      '2026-03-29T22:00:00.000Z',
    ],
    [
      'a day of 25 hours',
      spec('day', 'Europe/Berlin'),
      '2026-10-25T12:00:00Z',
      '2026-10-24T22:00:00.000Z',
      '2026-10-25T23:00:00.000Z',
    ],
    [
      'a day without midnight',
      spec('day', 'Africa/Cairo'),
      '2026-04-24T12:00:00Z',
      '2026-04-23T22:00:00.000Z',
      '2026-04-24T21:00:00.000Z',
    ],
    [
      'a day beyond the date line',
      spec('day', 'Pacific/Kiritimati'),
      '2026-11-21T12:00:00Z',
      '2026-11-21T10:00:00.000Z',
      '2026-11-22T10:00:00.000Z',
    ],
    [
      'a day at a quarter',
      spec('day', 'Asia/Kathmandu'),
      '2026-11-21T12:00:00Z',
      '2026-11-20T18:15:00.000Z',
      '2026-11-21T18:15:00.000Z',
    ],
    [
      'a week from Monday on',
      spec('week', 'America/New_York'),
      '2026-11-22T12:00:00Z',
      '2026-11-16T05:00:00.000Z',
      '2026-11-23T05:00:00.000Z',
    ],
    [
      'a month over the end of summer time',
      spec('month', 'America/New_York'),
      '2026-11-15T00:00:00Z',
      '2026-11-01T04:00:00.000Z',
      '2026-12-01T05:00:00.000Z',
    ],
    [
      'a month at the end of a year',
      spec('month', 'Europe/Berlin'),
      '2026-12-31T23:30:00Z',
      '2026-12-31T23:00:00.000Z',
      '2027-01-31T23:00:00.000Z',
    ],
    [
      "a user's week",
      spec('week', 'Europe/Berlin', '2026-11-04T10:30:00.000Z'),
      '2026-11-21T10:00:00Z',
      '2026-11-18T10:30:00.000Z',
      '2026-11-25T10:30:00.000Z',
    ],
    [
      "a user's week before its beginning",
      spec('week', 'UTC', '2026-11-04T10:30:00.000Z'),
      '2026-11-01T00:00:00Z',
      '2026-10-28T10:30:00.000Z',
      '2026-11-04T10:30:00.000Z',
    ],
    ['everything', spec('total'), '2026-11-21T10:00:00Z', null, null],
  ])('begins and ends as its limit says: %s', (_, given, time, start, resetsAt) =>
    expect(windowAt(given, at(time))).toEqual({ start, resetsAt }),
  );

  it('holds the time, and ends where the next one begins', () =>
    fc.assert(
      fc.property(
        fc.constantFrom('day', 'week', 'month'),
        fc.constantFrom(
          'UTC',
          'Europe/Berlin',
          'America/Sao_Paulo',
          'Australia/Lord_Howe',
          'Africa/Cairo',
          'Asia/Kathmandu',
        ),
        fc.integer({ min: at('2000-01-01'), max: at('2099-01-01') }),
        (window, zone, time) => {
          const { start, resetsAt } = windowAt(spec(window as 'day', zone), time);
          expect(at(start as string) <= time && time < at(resetsAt as string)).toBe(true);
          expect(windowAt(spec(window as 'day', zone), at(resetsAt as string)).start).toBe(resetsAt);
        },
      ),
      { numRuns: 300 },
    ));
});
