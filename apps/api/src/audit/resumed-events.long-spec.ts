import type { EventLog } from '@app/event-log';
import { resumePoint } from '@app/http';
import { newEvents } from '../../../../libs/event-log/src/contract/log-under-test.contract';
import { documents, events, idAt, textOf } from '../../../../test/fixtures/followed-streams';
import { type RestoredLog, withRestoredFolder } from '../../../../test/fixtures/restored-folder';
import { withRestoredServer } from '../../../../test/fixtures/restored-server';
import { until } from '../../../../test/fixtures/until';

const onServer = (body: (restored: RestoredLog) => Promise<void>): Promise<void> =>
  withRestoredServer(({ log, save, restore }) =>
    body({
      current: () => log,
      save: async () => save(),
      restore: async (meanwhile) => {
        await restore(meanwhile);
        await log.head();
      },
    }),
  );

describe.each([
  ['events', 'a server', events, onServer],
  ['events', 'a folder', events, withRestoredFolder],
  ['documents', 'a server', documents, onServer],
  ['documents', 'a folder', documents, withRestoredFolder],
] as const)('a stream of %s of a log in %s that is opened anew', (_name, _place, open, onLog) => {
  /** Hears of the last of nine events; gives its id. */
  const heardOf = async (log: EventLog, stream: string): Promise<string> => {
    const body = await open(log);
    const heard = textOf(body);
    const { position } = await log.append(stream, newEvents(9), 'noStream');
    await until(() => idAt(heard(), position) !== undefined, 'an event');
    body.destroy();
    return idAt(heard(), position) ?? '';
  };
  const resumed = async (log: EventLog, id: string) => {
    const body = await open(log, await resumePoint(log, id, 'last-event-id'));
    const heard = textOf(body);
    await until(() => heard().includes(': following'), 'the beginning');
    return { body, heard };
  };

  it.each([
    ['ends before it', 'document-3', 2],
    ['has another event in its place', 'document-3', 30],
    ['has grown beyond it otherwise', 'document-33', 30],
  ])(
    'behind an event that a restore took away says so, misses nothing and can go on, where the log %s',
    (_way, stream, count) =>
      onLog(async ({ current, save, restore }) => {
        await current().append('document-1', newEvents(1), 'noStream');
        await save();
        const lost = await heardOf(current(), 'document-2');
        await restore((other) => other.append(stream, newEvents(count), 'noStream'));
        const end = await current().head();
        const { body, heard } = await resumed(current(), lost);
        await until(() => heard().includes(`id: ${idAt(heard(), end)}\nevent: restored\ndata: {}\n`), 'the notice');
        const next = await current().append('document-4', newEvents(1), 'noStream');
        await until(() => idAt(heard(), next.position) !== undefined, 'what comes next');
        for (const position of [end, next.position])
          expect(await resumePoint(current(), idAt(heard(), position) ?? '', 'last-event-id')).toEqual({
            after: position,
          });
        body.destroy();
      }),
  );

  it('goes on behind an event that was removed meanwhile', () =>
    onLog(async ({ current }) => {
      const id = await heardOf(current(), 'document-2');
      const next = await current().append('document-3', newEvents(1), 'noStream');
      await current().delete('document-2', 'any');
      const { body, heard } = await resumed(current(), id);
      await until(() => idAt(heard(), next.position) !== undefined, 'what comes next');
      expect(heard()).not.toContain('restored');
      body.destroy();
    }));

  it('with the position alone, as ids were before, goes on behind it, and says what it lacks where the log ends before', () =>
    onLog(async ({ current, save, restore }) => {
      await current().append('document-1', newEvents(1), 'noStream');
      await save();
      const { position } = await current().append('document-2', newEvents(9), 'noStream');
      expect(await resumePoint(current(), position, 'last-event-id')).toEqual({ after: position });
      await restore((other) => other.append('document-3', newEvents(2), 'noStream'));
      const end = await current().head();
      const { body, heard } = await resumed(current(), position);
      await until(() => heard().includes(`id: ${idAt(heard(), end)}\nevent: restored\ndata: {}\n`), 'the notice');
      body.destroy();
    }));
});
