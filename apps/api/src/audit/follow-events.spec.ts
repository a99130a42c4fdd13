import { newEvents } from '../../../../libs/event-log/src/contract/log-under-test.contract';
import { documents, events, idAt, textOf } from '../../../../test/fixtures/followed-streams';
import { MemoryLog } from '../../../../test/fixtures/memory-log';
import { withRestoredServer } from '../../../../test/fixtures/restored-server';
import { until } from '../../../../test/fixtures/until';
import { JsonText, knownPosition, streamId } from '@app/http';

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

it('progress of a document has the id of an event that was told, so that whoever goes on behind it misses none', async () => {
  const log = new MemoryLog();
  const told: string[] = [];
  const heard = (): string => told.join('');
  let steps = 0;
  const body = await documents(log, undefined, {
    show: async (id) => {
      const progressed = heard().split('event: progress').length;
      if (id === '2') await until(() => heard().split('event: progress').length > progressed, 'progress');
      return { json: new JsonText(`{"id":"${id}"}`), running: id === '1' };
    },
    progress: async () => `{"step":${(steps += 1)}}`,
  });
  body.on('data', (piece: Buffer | string) => void told.push(String(piece)));
  for (const id of ['1', '2']) {
    await log.append(`document-${id}`, newEvents(1), 'noStream');
    await until(() => heard().includes(`{"id":"${id}"}`), 'the document');
  }
  const [first = '', second = ''] = log.events.map(streamId);
  const [before = '', behind = ''] = heard().split(`id: ${second}\nevent: document`);
  expect(before.split(`id: ${first}\nevent: progress`).length).toBeGreaterThan(1);
  expect(before).not.toContain(`id: ${second}`);
  expect(behind).toContain('"id":"2"');
  body.destroy();
});
