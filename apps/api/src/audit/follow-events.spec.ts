import { newEvents } from '../../../../libs/event-log/src/contract/log-under-test.contract';
import { documents, events, idAt, textOf } from '../../../../test/fixtures/followed-streams';
import { withRestoredServer } from '../../../../test/fixtures/restored-server';
import { until } from '../../../../test/fixtures/until';
import { knownPosition } from '@app/http';

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
      await until(() => idAt(heard(), lost) !== undefined, 'what is lost');
      await restore((other) => other.append('document-3', newEvents(meanwhile), 'noStream'));
      // Any request of the process finds it.
      await log.head();
      await until(() => heard().includes('event: restored\ndata: {}\n'), 'the notice');
      const place = /id: (\S+)\nevent: restored/.exec(heard())?.[1];
      const next = await log.append('document-4', newEvents(1), 'noStream');
      await until(() => idAt(heard(), next.position) !== undefined, 'what comes next');
      expect(
        (await log.readAll({ after: await knownPosition(log, place ?? '', 'id') })).events.map(({ stream }) => stream),
      ).toEqual(['document-4']);
      body.destroy();
    }),
  );
});
