import { type StoredEvent, Unavailable } from '@app/kernel';
import { newEvent } from '../../event-log/src/contract/log-under-test.contract';
import { MemoryLog } from '../../../test/fixtures/memory-log';
import { knownPosition, resumePoint, streamId, streamIdAt } from '.';

describe('the id of an event in a stream', () => {
  const logOf = async (...given: Parameters<typeof newEvent>[0][]) => {
    const log = new MemoryLog();
    for (const each of given) await log.append('document-1', [newEvent(each)], 'any');
    return log;
  };
  const at = (log: MemoryLog, index: number) => log.events[index] as StoredEvent;

  it('begins with its position, so that ids order as the events do, with or without a mark', async () => {
    const log = await logOf({}, {}, {});
    const ids = log.events.map(streamId);
    for (const [index, id] of ids.entries()) expect(id).toMatch(new RegExp(`^${at(log, index).position}-[0-9a-f]{8}$`));
    const mixed = log.events.flatMap((event) => [event.position, streamId(event)]);
    expect(mixed.toSorted()).toEqual(mixed);
    expect(await knownPosition(log, ids[1] ?? '', 'after')).toBe(at(log, 1).position);
  });

  it('leads back to it, in every process', async () => {
    const log = await logOf({}, {}, {});
    expect(await resumePoint(log, streamId({ ...at(log, 1) }), 'last-event-id')).toEqual({
      after: at(log, 1).position,
    });
  });

  it('is no longer known where another event stands, or the same command was repeated after a restore', async () => {
    const log = await logOf({}, {}, {});
    const known = streamId(at(log, 1));
    const end = { after: at(log, 2).position, restored: streamId(at(log, 2)) };
    for (const other of [
      newEvent(),
      { ...at(log, 1), metadata: '{"schema":"1","recordedAt":"2026-11-29T00:00:00.000Z"}' },
    ]) {
      log.events[1] = { ...at(log, 1), ...other };
      expect(await resumePoint(log, known, 'last-event-id')).toEqual(end);
    }
    log.events.splice(1, 1);
    expect(await resumePoint(log, known, 'last-event-id')).toEqual(end);
    log.events.splice(0);
    expect(await resumePoint(log, known, 'last-event-id')).toEqual({ after: null, restored: '' });
  });

  it('costs one look at its place', async () => {
    const log = await logOf({}, {}, {});
    const [eventAt, readAll, head] = [jest.spyOn(log, 'eventAt'), jest.spyOn(log, 'readAll'), jest.spyOn(log, 'head')];
    await resumePoint(log, streamId(at(log, 0)), 'last-event-id');
    expect([eventAt, readAll, head].map(({ mock }) => mock.calls.length)).toEqual([1, 0, 0]);
  });

  it('of a log whose positions look otherwise, or where none begins there, is not known', async () => {
    const log = await logOf({});
    jest.spyOn(log, 'eventAt').mockRejectedValueOnce(new RangeError('not a position of this log'));
    expect(await resumePoint(log, '0000000000000001-0123abcd', 'last-event-id')).toEqual({
      after: at(log, 0).position,
      restored: streamId(at(log, 0)),
    });
  });

  it('of an event that was removed is known', async () => {
    const log = await logOf({}, {});
    const known = streamId(at(log, 0));
    jest.spyOn(log, 'eventAt').mockResolvedValueOnce('removed');
    expect(await resumePoint(log, known, 'last-event-id')).toEqual({ after: at(log, 0).position });
  });

  it('is not taken for lost while the log is away', async () => {
    const log = await logOf({}, {});
    const known = streamId(at(log, 0));
    const away = new Unavailable('the event log', 'away');
    jest.spyOn(log, 'eventAt').mockRejectedValueOnce(away);
    await expect(resumePoint(log, known, 'last-event-id')).rejects.toBe(away);
    jest.spyOn(log, 'eventAt').mockResolvedValueOnce(undefined);
    jest.spyOn(log, 'head').mockRejectedValueOnce(away);
    await expect(resumePoint(log, known, 'last-event-id')).rejects.toBe(away);
  });

  it('is the position alone where no event can be read', async () => {
    expect(await streamIdAt(await logOf({}), '000000000007')).toBe('000000000007');
  });
});
