import type { EventContext } from '@app/kernel';
import { isWithin, momentOf } from './moment';

const at = (position: string, recordedAt: string) => ({ context: { position, recordedAt } as EventContext });

describe('momentOf', () => {
  it.each([
    ['2026-11-21T10:00:00.000Z', { time: '2026-11-21T10:00:00.000Z' }],
    ['2026-11-21T10:00:00+02:00', { time: '2026-11-21T08:00:00.000Z' }],
    ['2026-11-21T10:00', { time: '2026-11-21T10:00:00.000Z' }],
    ['2026-11-21', { time: '2026-11-21T00:00:00.000Z' }],
    ['000000000000042', { position: '000000000000042' }],
  ])('reads %s', (text, moment) => expect(momentOf(text)).toEqual(moment));

  it.each([
    '2026-13-45T10:00:00Z',
    '2026-02-30T00:00:00Z',
    '2026-02-29',
    '2026-04-31T10:00',
    '2026-11-21T25:00:00Z',
    '9999-12-31T23:59:59-01:00',
    '0000-01-01T00:00:00+01:00',
  ])('rejects %s, which does not exist or cannot be told', (text) => expect(momentOf(text)).toBeUndefined());
});

describe('isWithin', () => {
  const event = at('02', '2026-01-01T00:00:05.000Z');

  it.each([
    [{ position: '02' }, true],
    [{ position: '03' }, true],
    [{ position: '01' }, false],
    [{ time: '2026-01-01T00:00:05.000Z' }, true],
    [{ time: '2026-01-01T00:00:04.999Z' }, false],
  ])('an event is compared with the moment %j: %j', (moment, expected) =>
    expect(isWithin(moment, event.context)).toBe(expected),
  );
});
