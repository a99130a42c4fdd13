import { openEventStoreLogReader } from '..';
import { newEvents } from '../contract/log-under-test.contract';
import { withClient, withServer } from './with-server.contract';

describe('removal on EventStoreDB', () => {
  it(
    'goes on after everything was removed: noStream holds, also for its repeat, streamExists does not',
    withServer(async (log) => {
      const first = newEvents(3);
      await log.append('a-1', first, 'noStream');
      await log.delete('a-1', 'any');
      await expect(log.append('a-1', newEvents(1), 'streamExists')).rejects.toMatchObject({
        name: 'WrongExpectedRevision',
        actual: -1,
      });
      await expect(log.append('a-1', newEvents(1), 1)).rejects.toMatchObject({
        name: 'WrongExpectedRevision',
        actual: -1,
      });

      const events = newEvents(2);
      const answer = await log.append('a-1', events, 'noStream');

      expect(answer.revision).toBe(4);
      expect(await log.append('a-1', events, 'noStream')).toEqual(answer);
      await expect(log.append('a-1', newEvents(1), 'noStream')).rejects.toMatchObject({
        name: 'WrongExpectedRevision',
        actual: 4,
      });
      expect((await log.readStream('a-1')).map(({ revision }) => revision)).toEqual([3, 4]);
    }),
  );

  it(
    'never brings an append back that was removed',
    withServer(async (log) => {
      const events = newEvents(2);
      await log.append('a-1', events, 'noStream');
      await log.delete('a-1', 1);

      await expect(log.append('a-1', events, 'noStream')).rejects.toMatchObject({
        name: 'WrongExpectedRevision',
        actual: -1,
      });
      expect(await log.readStream('a-1')).toEqual([]);
    }),
  );

  it(
    'of more than there is removes what there is',
    withServer(async (log) => {
      await log.append('a-1', newEvents(2), 'noStream');
      await log.truncate('a-1', 99);
      await log.truncate('b-1', 5);
      await log.append('a-1', newEvents(1), 1);

      expect((await log.readStream('a-1')).map(({ revision }) => revision)).toEqual([2]);
      expect((await log.readAll()).events.map(({ stream, revision }) => [stream, revision])).toEqual([['a-1', 2]]);
    }),
  );

  it(
    'is seen at once by whoever reads from elsewhere',
    withServer(async (log, server) => {
      const reader = await openEventStoreLogReader({ url: server.url });
      await log.append('a-1', newEvents(4), 'noStream');
      expect((await reader.readAll()).events).toHaveLength(4);
      await Promise.all([log.truncate('a-1', 2), log.truncate('a-1', 3), log.truncate('a-1', 1)]);

      expect((await reader.readAll()).events.map(({ revision }) => revision)).toEqual([3]);
      expect((await reader.readAll({ direction: 'backwards' })).events.map(({ revision }) => revision)).toEqual([3]);
      await reader.close();
    }),
  );

  it(
    'keeps what else the metadata of a stream say',
    withServer(async (log, server) => {
      await log.append('a-1', newEvents(3), 'noStream');
      await withClient(server.url, async (client) => {
        await client.setStreamMetadata('a-1', { maxAge: 1_000_000, custom: 'yes' });
        await log.truncate('a-1', 2);

        expect((await client.getStreamMetadata('a-1')).metadata).toEqual({
          maxAge: 1_000_000,
          custom: 'yes',
          truncateBefore: 2,
        });
      });
    }),
  );

  it(
    'by somebody else, of the whole stream, is no obstacle: it goes on at the next revision',
    withServer(async (log, server) => {
      const events = newEvents(2);
      await log.append('a-1', events, 'noStream');
      await withClient(server.url, (client) => client.deleteStream('a-1'));

      expect(await log.readStream('a-1')).toEqual([]);
      await expect(log.append('a-1', events, 'noStream')).rejects.toMatchObject({
        name: 'WrongExpectedRevision',
        actual: -1,
      });
      await expect(log.append('a-1', newEvents(1), 'streamExists')).rejects.toMatchObject({
        name: 'WrongExpectedRevision',
        actual: -1,
      });
      await log.delete('a-1', 'any');
      const again = newEvents(1);
      const answer = await log.append('a-1', again, 'noStream');

      expect(answer.revision).toBe(2);
      expect(await log.append('a-1', again, 'noStream')).toEqual(answer);
      expect((await log.readStream('a-1')).map(({ revision }) => revision)).toEqual([2]);
    }),
  );
});
