import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openMongoCoordinationStore } from '@app/coordination';
import { openMongoReadStore, openMongoServer, type Operation, rowSchema } from '@app/read-store';
import { exportKeys, importKeys } from '@app/backup';
import { openMongoVault, type Vault } from '@app/vault';
import { agents } from '@projections/agents';
import { createConnection, Schema } from 'mongoose';
import { coordinationStoreContract } from '../../libs/coordination/src/coordination-store.contract';
import { readStoreContract } from '../../libs/read-store/src/read-store.contract';
import { vaultContract } from '../../libs/vault/src/vault.contract';
import { FixedClock } from '../fixtures/fixed-clock';
import { TcpProxy } from '../fixtures/tcp-proxy';
import { until } from '../fixtures/until';
import { withServer } from './with-server';

withServer('MONGODB_URL', 'MongoDB', (server) => {
  readStoreContract('It', async () => {
    const url = withDatabase(server, `test-${randomUUID()}`);
    let store = await openMongoReadStore({ url });
    return {
      store,
      reopen: async () => {
        await store.close();
        return (store = await openMongoReadStore({ url }));
      },
      destroy: async () => {
        await store.close();
        await dropDatabase(url);
      },
    };
  });

  it('removes the rows of a tenant without reading them', async () => {
    const proxy = await TcpProxy.start(Number(new URL(server).port));
    const url = withDatabase(server, `test-${randomUUID()}`);
    const store = await openMongoReadStore({ url: throughProxy(url, proxy) });
    const batch = (number: number, operations: readonly Operation[]) =>
      store.commit({
        view: 'notes',
        version: 1,
        from: number === 1 ? null : String(number - 1),
        to: { position: String(number), handled: number },
        fence: 1,
        changes: [{ position: String(number), operations }],
      });
    await store.prepare({ name: 'notes', version: 1, indexes: [{ name: 'spaces', fields: [{ field: 'spaceId' }] }] });
    const row = { spaceId: 's', text: 'x'.repeat(50_000) };
    const keys = Array.from({ length: 100 }, (_, index) => `n${index}`);
    const puts = keys.map((key) => ({ op: 'put', key, row }) as const);
    await batch(1, puts);
    let bytes = 0;
    proxy.onSentDown = (piece) => (bytes += piece.length);
    await batch(2, [{ op: 'removeWhere', where: { spaceId: 's' } }]);
    const left = await store.scan('notes', 1, null, 10);
    await store.close();
    await proxy.close();
    await dropDatabase(url);
    expect([bytes < 100_000, left]).toEqual([true, []]);
  });

  coordinationStoreContract('It', async () => {
    const url = withDatabase(server, `test-${randomUUID()}`);
    const store = await openMongoCoordinationStore({ url });
    return {
      store,
      beside: () => openMongoCoordinationStore({ url }),
      destroy: async () => {
        await store.close();
        await dropDatabase(url);
      },
    };
  });

  it('reads as what the API shows, with the declared indexes, in any tool', async () => {
    const url = withDatabase(server, `test-${randomUUID()}`);
    const store = await openMongoReadStore({ url });
    const { db, close } = await databaseOf(url);
    await store.prepare({ ...agents, version: 1 });
    await store.swap('agents', undefined, 1);
    await store.commit({
      view: 'agents',
      version: 1,
      from: null,
      to: { position: '1', handled: 1 },
      fence: 1,
      changes: [{ position: '1', operations: [{ op: 'put', key: AGENT.id, row: AGENT }] }],
    });
    const found = await db.collection('agents').findOne({ spaceId: AGENT.spaceId, 'sampling.topK.enabled': false });
    expect(found).toEqual({ ...AGENT, _id: AGENT.id, _meta: expect.objectContaining({ position: '1' }) });
    const [collection] = await db.listCollections({ name: /^agents-v1-/ }).toArray();
    expect(await db.collection(collection?.name ?? '').indexes()).toMatchObject([
      { name: '_id_' },
      { name: 'newest-of-space', key: { spaceId: 1, createdAt: -1, _id: -1 } },
    ]);
    // A model of somebody else's reads it with the types that the projection declares.
    const model = createConnection(url).model<object>('agents', rowSchema({ Schema }, agents), 'agents');
    const read = await model.findOne({ spaceId: AGENT.spaceId });
    await read?.validate();
    expect(read?.toObject()).toEqual(found);
    await model.db.close();
    // The name follows the build that is served.
    await store.prepare({ ...agents, version: 2 });
    await store.swap('agents', 1, 2);
    expect(await db.collection('agents').countDocuments()).toBe(0);
    await store.swap('agents', 2, 1);
    expect(await db.collection('agents').countDocuments()).toBe(1);
    await Promise.all([store.close(), close()]);
    await dropDatabase(url);
  });

  it('shows what another process wrote: at once to whoever looked where the view stands, to others within moments', async () => {
    const url = withDatabase(server, `test-${randomUUID()}`);
    const [writer, reader] = await Promise.all([openMongoReadStore({ url }), openMongoReadStore({ url })]);
    const commit = async (number: number): Promise<void> => {
      const operations = [{ op: 'put', key: 'a', row: { number } } as const];
      await writer.commit({
        view: 'shared',
        version: 1,
        from: number === 1 ? null : String(number - 1),
        to: { position: String(number), handled: number },
        fence: 1,
        changes: [{ position: String(number), operations }],
      });
    };
    const seen = async (): Promise<unknown> => (await reader.get('shared', 'a'))?.row['number'];
    await writer.prepare({ name: 'shared', version: 1, indexes: [] });
    await writer.swap('shared', undefined, 1);
    for (let number = 1; number <= 5; number += 1) {
      await commit(number);
      expect((await reader.checkpoint('shared', 1))?.position).toBe(String(number));
      expect(await seen()).toBe(number);
    }
    await commit(6);
    await until(async () => (await seen()) === 6);
    await Promise.all([writer.close(), reader.close()]);
    await dropDatabase(url);
  });

  const startVault = async () => {
    const url = withDatabase(server, `test-${randomUUID()}`);
    const clock = new FixedClock();
    const opened: Vault[] = [];
    const open = async (wrappingKey = SECRET, at = url) => {
      const vault = await openMongoVault({ url: at, wrappingKey, clock });
      opened.push(vault);
      return vault;
    };
    const other = withDatabase(server, `test-${randomUUID()}`);
    return {
      url,
      clock,
      open,
      other,
      openOther: (wrappingKey?: string) => open(wrappingKey, other),
      end: async () => {
        await Promise.all(opened.map((vault) => vault.close()));
        for (const each of [url, other]) await dropDatabase(each, '_vault');
      },
    };
  };

  describe('It as a vault', () => {
    vaultContract(startVault);

    it('says that VAULT_KEY is wrong when it is opened with another', async () => {
      const test = await startVault();
      await test.open();
      await expect(test.open(`${SECRET}.`)).rejects.toThrow(
        /VAULT_KEY is not the key that the vault on MongoDB was made with/,
      );
      await test.end();
    });

    it('never stores a key as it is, and nothing of it once it is destroyed', async () => {
      const test = await startVault();
      const vault = await test.open();
      const key = await vault.ensureKey('document-1', { spaceId: 's1' });
      const { db, close } = await databaseOf(test.url, '_vault');
      const stored = async () => JSON.stringify(await db.collection('keys').find().toArray());
      expect(await stored()).toContain('wrapped');
      expect(await stored()).not.toContain(key.toString('base64'));
      await vault.destroy({ stream: 'document-1' });
      expect(await stored()).not.toContain('wrapped');
      await close();
      await test.end();
    });

    it('encrypts nothing with a key that was lost with the primary that gave it', async () => {
      const test = await startVault();
      const [maker, other] = [await test.open(), await test.open()];
      const lost = await maker.ensureKey('document-1', { spaceId: 's1' });
      // Seen before a majority held it, and gone with the primary.
      expect((await other.keys(['document-1'])).get('document-1')).toEqual(lost);
      const { db, close } = await databaseOf(test.url, '_vault');
      await db.collection<{ _id: string }>('keys').deleteOne({ _id: 'document-1' });
      const made = await other.ensureKey('document-1', { spaceId: 's1' });
      expect(made).not.toEqual(lost);
      expect(await other.ensureKey('document-1', { spaceId: 's1' })).toEqual(made);
      expect((await (await test.open()).keys(['document-1'])).get('document-1')).toEqual(made);
      await close();
      await test.end();
    });

    it('is waited for when it goes away, while its keys are exported and while keys are brought into it', async () => {
      const test = await startVault();
      const proxy = await TcpProxy.start(Number(new URL(server).port));
      const folder = mkdtempSync(join(tmpdir(), 'keys-'));
      const file = join(folder, 'keys.jsonl');
      const streams = Array.from({ length: 200 }, (_, index) => `document-${index}`);
      try {
        const near = await test.open();
        for (let start = 0; start < streams.length; start += 50)
          await Promise.all(
            streams.slice(start, start + 50).map((stream) => near.ensureKey(stream, { spaceId: 's1' })),
          );
        await near.destroy({ stream: 'document-7' });
        const [from, to] = [
          await test.open(SECRET, throughProxy(test.url, proxy)),
          await test.open(SECRET, throughProxy(test.other, proxy)),
        ];
        let waited = 0;
        const warn = (): void => {
          waited += 1;
          void proxy.up();
        };
        /** Down at once, and again behind so many answers. */
        const down = async (): Promise<void> => {
          await proxy.down();
          proxy.breakNextAfter(10_000);
        };
        await down();
        await exportKeys(from, file, { warn });
        await down();
        await importKeys(file, to, { warn });
        proxy.breakNoMore();
        expect(waited).toBeGreaterThanOrEqual(2);
        expect(await (await test.openOther()).keys(streams)).toEqual(await near.keys(streams));
      } finally {
        await proxy.up();
        rmSync(folder, { recursive: true });
        await test.end();
        await proxy.close();
      }
    });
  });
});

const AGENT = {
  id: 'a1',
  spaceId: 's1',
  isPersonal: false,
  name: 'Guide',
  description: 'Knows the ferries.',
  model: 'm',
  allowedModels: null,
  systemPrompt: 'Answer in one sentence.',
  memoryEnabled: true,
  sharedMemoryEnabled: false,
  knowledgeEnabled: true,
  includeAiSummary: false,
  codeExecutionEnabled: false,
  sampling: {
    temperature: { enabled: true, value: 0.5 },
    topP: { enabled: false, value: null },
    topK: { enabled: false, value: null },
  },
  tools: [{ id: 'search', name: 'Search', kind: 'builtin', enabled: true, approval: 'never' }],
  public: { enabled: false, allowedUrls: ['https://example.com'], sessionMinutes: 30, windowTitle: '' },
  createdAt: '2026-11-23T07:00:00.000Z',
  updatedAt: '2026-11-23T07:00:00.000Z',
  revision: 0,
};

const SECRET = 'a secret of at least thirty-two characters';

/** The connection string with another database. */
const withDatabase = (url: string, database: string): string =>
  url.replace(/^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/[^?]*)?/, `$1/${database}`);

/** A database as it is reached through a proxy. */
const throughProxy = (url: string, { port }: TcpProxy): string => {
  const address = new URL(url);
  address.host = `127.0.0.1:${port}`;
  address.searchParams.set('directConnection', 'true');
  return address.href;
};

const databaseOf = async (url: string, suffix = '') => {
  const server = await openMongoServer({ url, suffix, dependency: 'test' });
  return { db: server.db, close: () => server.close() };
};

const dropDatabase = async (url: string, suffix = ''): Promise<void> => {
  const { db, close } = await databaseOf(url, suffix);
  await db.dropDatabase();
  await close();
};
