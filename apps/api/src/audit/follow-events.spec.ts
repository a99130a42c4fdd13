import type { Readable } from 'node:stream';
import type { EventLog } from '@app/event-log';
import { newEvents } from '../../../../libs/event-log/src/contract/log-under-test.contract';
import { withRestoredServer } from '../../../../test/fixtures/restored-server';
import { until } from '../../../../test/fixtures/until';
import { documentEvents } from '../core/knowledge/document-events';
import { JsonText, type ResumePoint, resumePoint } from '@app/http';
import { followEvents } from './follow-events';

const textOf = (body: Readable): (() => string) => {
  let text = '';
  body.on('data', (piece: Buffer | string) => (text += String(piece)));
  return () => text;
};

const documents = (log: EventLog, from?: ResumePoint): Promise<Readable> =>
  documentEvents({
    log,
    from,
    viewReached: async () => undefined,
    show: async (id) => ({ json: new JsonText(JSON.stringify({ id })), running: false }),
    wasShown: async () => false,
    progress: async () => undefined,
  });

const events = async (log: EventLog, from?: ResumePoint): Promise<Readable> =>
  followEvents(log, { ...(from ?? { after: await log.head(), isLost: false }), show: async (found) => found });

describe.each([
  ['events', events],
  ['documents', documents],
])('a stream of %s that is open while the log is restored from an older backup', (_name, open) => {
  it.each([2, 30])('says so, and goes on with what comes next, %d events behind the backup', (meanwhile) =>
    withRestoredServer(async ({ log, save, restore }) => {
      await log.append('document-1', newEvents(1), 'noStream');
      save();
      const body = await open(log);
      const heard = textOf(body);
      await log.append('document-2', newEvents(9), 'noStream');
      const lost = await log.head();
      await until(() => heard().includes(`id: ${lost}\n`), 'what is lost');
      await restore((other) => other.append('document-3', newEvents(meanwhile), 'noStream'));
      // Any request of the process finds it.
      await log.head();
      await until(() => heard().includes('event: restored\ndata: {}\n'), 'the notice');
      const place = /id: (\S+)\nevent: restored/.exec(heard())?.[1];
      const next = await log.append('document-4', newEvents(1), 'noStream');
      await until(() => heard().includes(`id: ${next.position}\n`), 'what comes next');
      expect((await log.readAll({ after: place ?? '' })).events.map(({ stream }) => stream)).toEqual(['document-4']);
      body.destroy();
    }),
  );

  it('says so, too, where it is opened later behind an event that is lost, and misses nothing', () =>
    withRestoredServer(async ({ log, save, restore }) => {
      await log.append('document-1', newEvents(1), 'noStream');
      save();
      const { position: lost } = await log.append('document-2', newEvents(9), 'noStream');
      await restore();
      const end = await log.head();
      const body = await open(log, await resumePoint(log, lost, 'last-event-id'));
      const heard = textOf(body);
      await until(() => heard().includes(`id: ${end}\nevent: restored\ndata: {}\n`), 'the notice');
      const next = await log.append('document-3', newEvents(1), 'noStream');
      await until(() => heard().includes(`id: ${next.position}\n`), 'what comes next');
      expect(await resumePoint(log, next.position, 'last-event-id')).toEqual({ after: next.position, isLost: false });
      body.destroy();
    }));
});
