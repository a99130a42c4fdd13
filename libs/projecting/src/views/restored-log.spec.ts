import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EventLog, openEventStoreLog } from '@app/event-log';
import { counted, countersProjecting, opened } from '../../../../test/fixtures/counters';
import { MemoryReadStore } from '../../../../test/fixtures/memory-read-store';
import { until } from '../../../../test/fixtures/until';
import { viewOver } from '../../../../test/fixtures/view-over';
import { noLag, startEventStoreDouble } from '../../../../test/servers/eventstoredb/double';

const SLICES = new Map(Array.from({ length: 8 }, (_, slice) => [slice, 1]));

describe('a view of a server that was restored from an older backup', () => {
  /** Opens a view that has seen three events, of which the restored server has one; `meanwhile` writes to it first. */
  const reopened = async (meanwhile: (log: EventLog) => Promise<unknown>): Promise<unknown> => {
    const folder = mkdtempSync(join(tmpdir(), 'restored-'));
    const [file, backup] = [join(folder, 'log'), join(folder, 'backup')];
    const readStore = new MemoryReadStore();
    let server = await startEventStoreDouble({ file, lag: noLag });
    let log = await openEventStoreLog({ url: server.url });
    try {
      await log.append('counter-a', [opened('a')], 'noStream');
      copyFileSync(file, backup);
      await log.append('counter-a', [counted(1), counted(1)], 0);
      const before = viewOver(log, readStore);
      await before.open(SLICES);
      const head = await log.head();
      await until(() => before.live?.position === head, 'the head');
      await before.close();
      await log.close();
      await server.stop();
      copyFileSync(backup, file);
      server = await startEventStoreDouble({ file, lag: noLag });
      log = await openEventStoreLog({ url: server.url });
      await meanwhile(log);
      const view = viewOver(log, readStore);
      const found = await view.open(SLICES);
      await view.close();
      return found;
    } finally {
      await log.close();
      await server.stop();
      rmSync(folder, { recursive: true });
    }
  };

  it('is unfit when the log ends before it', async () => {
    expect(await reopened(async () => undefined)).toBe('ahead-of-log');
  });

  it('is unfit when the log has gone on since, past where it stood', async () => {
    expect(
      await reopened((log) => log.append('counter-b', [opened('a longer name'), counted(2), counted(3)], 'noStream')),
    ).toBe('ahead-of-log');
  });

  it('is rebuilt while the process runs on', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'restored-'));
    const [file, backup] = [join(folder, 'log'), join(folder, 'backup')];
    const readStore = new MemoryReadStore();
    let server = await startEventStoreDouble({ file, lag: noLag });
    const { url, port } = server;
    const log = await openEventStoreLog({ url });
    const projecting = countersProjecting(log, readStore);
    const rowOf = async (key: string) => (await readStore.get('counters', key))?.row['count'];
    try {
      await projecting.start();
      await log.append('counter-a', [opened('a'), counted(1)], 'noStream');
      await until(async () => (await rowOf('counter-a')) === 1, 'the first events');
      copyFileSync(file, backup);
      const lost = await log.append('counter-a', [counted(1), counted(1)], 1);
      expect(await projecting.waitFor('counters', lost.position, 5_000)).toBe(true);
      await server.stop();
      copyFileSync(backup, file);
      server = await startEventStoreDouble({ file, port, lag: noLag });
      const other = await openEventStoreLog({ url });
      await other.append('counter-a', [counted(5), counted(5)], 1);
      await other.close();
      await until(async () => (await rowOf('counter-a')) === 11, 'the rebuild');
      const next = await log.append('counter-b', [opened('b')], 'noStream');
      expect(await projecting.waitFor('counters', next.position, 5_000)).toBe(true);
      expect(await rowOf('counter-b')).toBe(0);
    } finally {
      await projecting.stop();
      await log.close();
      await server.stop();
      rmSync(folder, { recursive: true });
    }
  }, 30_000);
});
