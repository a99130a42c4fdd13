import { randomUUID } from 'node:crypto';
import type { EventLog } from '@app/event-log';
import { canonicalJson } from '@app/kernel';
import { openMongoReadStore, openMongoServer, type ReadStore } from '@app/read-store';
import { openMongoCounters } from '../faults/mongo/mongo-counters';
import { isInstalled, MongoProcess } from '../faults/mongo/server-process';
import { expectViewIsFold } from '../faults/projecting/counter-stores';
import { counted, opened } from '../fixtures/counters';
import { until } from '../fixtures/until';
import { withServer } from './with-server';

interface RowOnServer {
  readonly _id: string;
  readonly _meta: { readonly position: string; readonly commit: string };
}
interface ViewOnServer {
  readonly _id: string;
  readonly versions: readonly { readonly version: number; readonly collection: string }[];
}

/** Makes of the counters what version 1.5.0 would have stored: rows as text, their indexed field beside it, a build that says nothing of a format. */
const asOf150 = async (url: string): Promise<void> => {
  const { db, close } = await serverAt(url);
  const view = await db.collection<ViewOnServer>('views').findOne({ _id: 'counters' });
  for (const { version, collection } of view?.versions ?? []) {
    const rows = db.collection<{ readonly _id: string }>(collection);
    for (const { _id, _meta, ...row } of (await rows.find().toArray()) as unknown as readonly RowOnServer[]) {
      const { position, commit } = _meta;
      const by = { name: (row as { readonly name?: string }).name };
      await rows.replaceOne({ _id }, { position, commit, row: JSON.stringify(row), by });
    }
    await rows.dropIndexes();
    await rows.createIndex({ 'by.name': 1, _id: 1 }, { name: 'by-name' });
    const declaration = { _id: `build/counters/${version}` };
    const entry = await db.collection<{ _id: string; value: string }>('state').findOne(declaration);
    const { rows: _, ...former } = JSON.parse(JSON.parse(entry?.value ?? '""') as string) as Record<string, unknown>;
    const value = JSON.stringify(canonicalJson(former));
    await db.collection<{ _id: string }>('state').updateOne(declaration, { $set: { value } });
  }
  await db
    .collection<ViewOnServer>('views')
    .updateOne({ _id: 'counters' }, { $unset: { 'versions.$[].format': '', 'versions.$[].freeForm': '' } });
  await close();
};

const serverAt = async (url: string) => {
  const server = await openMongoServer({ url, dependency: 'test' });
  return { db: server.db, close: () => server.close() };
};

/** What is read of the counters, one way and the other. */
const read = async (store: ReadStore) => {
  const names: string[] = [];
  for (let last = ''; ;) {
    const page = await store.find('counters', {
      orderBy: [{ field: 'name', order: 'asc' }],
      ...(last === '' ? {} : { after: { values: [last], key: last } }),
      limit: 7,
    });
    names.push(...page.map(({ row }) => String(row['name'])));
    if (page.length === 0) break;
    last = names.at(-1) ?? '';
  }
  return {
    one: await store.get('counters', 'counter-03'),
    many: await store.getMany('counters', ['counter-01', 'nobody', 'counter-02']),
    equal: await store.find('counters', { where: { name: { in: ['counter-04', 'none'] } }, limit: 5 }),
    count: await store.count('counters'),
    scanned: await store.scan('counters', (await store.live('counters')) ?? 0, null, 1_000),
    names,
  };
};

const count = async (log: EventLog, from: number, to: number): Promise<void> => {
  for (let number = from; number < to; number += 1) {
    const stream = `counter-${String(number).padStart(2, '0')}`;
    await log.append(stream, [opened(stream), counted(number % 10)], 'noStream');
  }
};

withServer('MONGODB_URL', 'A database that version 1.5.0 left', (server) => {
  /** What a test opened, closed in the reverse order however it ended. */
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });

  it('is read as it is, while its views are built anew beside and then take its place', async () => {
    const url = server.replace(/^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/[^?]*)?/, `$1/test-${randomUUID()}`);
    const { db, close: disconnect } = await serverAt(url);
    closing.push(async () => {
      await db.dropDatabase();
      await disconnect();
    });
    let stores = await openMongoCounters(url);
    closing.push(() => stores.close());
    await count(stores.log, 0, 30);
    await stores.projecting.start();
    await until(async () => (await stores.readStore.count('counters')) === 30);
    await stores.projecting.stop();
    const before = await read(stores.readStore);
    await asOf150(url);

    const upgraded = await openMongoReadStore({ url });
    closing.push(() => upgraded.close());
    expect(await read(upgraded)).toEqual(before);
    expect(before).toMatchObject({ one: { row: { name: 'counter-03', count: 3 } }, count: 30 });
    expect([before.names.length, before.many.length, before.equal.length]).toEqual([30, 2, 1]);
    // Nothing is written into what stands there as text.
    await expect(
      upgraded.commit({
        view: 'counters',
        version: 1,
        from: (await upgraded.checkpoint('counters', 1))?.position ?? null,
        to: { position: null, handled: 0 },
        fence: 99,
        changes: [],
      }),
    ).rejects.toThrow('are text in the format of version 1.5');

    await count(stores.log, 30, 40);
    stores = await stores.reopen();
    const seen: number[] = [];
    await stores.projecting.start();
    await until(async () => {
      seen.push(await stores.readStore.count('counters'));
      return (await stores.readStore.live('counters')) === 2;
    });
    await expectViewIsFold(stores);
    expect(seen.every((rows) => rows >= 30)).toBe(true);
    await until(
      async () => (await stores.readStore.versions('counters')).join() === '2',
      'the former build to be dropped',
    );
    expect(await db.collection('counters').findOne({ name: 'counter-03' })).toMatchObject({ count: 3 });
  });
});

describe('A MongoDB outside of a replica set', () => {
  if (!isInstalled()) it.todo('skipped: test/servers/mongodb.sh install was not run');
  else
    it('is rejected with a sentence that says what to do', async () => {
      const standalone = await MongoProcess.start({ standalone: true });
      try {
        await expect(openMongoReadStore({ url: standalone.url })).rejects.toMatchObject({
          name: 'NoReplicaSet',
          message: expect.stringContaining('rs.initiate()'),
        });
      } finally {
        await standalone.remove();
      }
    });
});
