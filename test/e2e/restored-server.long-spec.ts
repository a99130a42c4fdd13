import { withRestoredServer } from '../fixtures/restored-server';
import { until } from '../fixtures/until';
import { startTestPlatform } from './harness';

test(
  'what was erased is deleted again where the server of the log is restored from an older backup under the product',
  () =>
    withRestoredServer(async ({ url, log, save, restore }) => {
      const { call, stop } = await startTestPlatform({ environment: { EVENTSTORE_URL: url } });
      const core = '/api/v1/core';
      const { body } = await call<{ id: string }>(`${core}/spaces`, { method: 'POST', body: { name: 'Doomed' } });
      const path = `${core}/spaces/${body.id}`;
      const receipts = async (): Promise<number> =>
        (await log.readAll({ filter: { types: ['ContentErased'] }, limit: 10_000 })).events.length;
      save();
      await call(path, { method: 'DELETE' });
      await until(async () => (await receipts()) === 1, 'the receipt');
      await restore();
      expect(await receipts()).toBe(0);
      await until(async () => (await receipts()) === 1, 'the receipt of the restored log');
      expect((await call(path)).status).toBe(404);
      const deletions = (await log.readStream(`space-${body.id}`)).filter(({ type }) => type === 'SpaceDeleted');
      expect(deletions.map(({ metadata }) => JSON.parse(metadata).actor)).toEqual(['system:restore']);
      await stop();
    }),
  120_000,
);
