import { randomUUID } from 'node:crypto';
import { openMongoReadStore, openMongoServer } from '@app/read-store';
import { FixedClock } from '@app/kernel';
import { openMongoVault, type Vault } from '@app/vault';
import { readStoreContract } from '../../libs/read-store/src/read-store.contract';
import { vaultContract } from '../../libs/vault/src/vault.contract';
import { until } from '../fixtures/until';
import { withServer } from './with-server';

/** A replica set, and a server of its own that knows no transactions. */
const SERVERS = [
  { variable: 'MONGODB_URL', title: 'MongoDB with transactions', transactions: true },
  { variable: 'MONGODB_STANDALONE_URL', title: 'MongoDB without transactions', transactions: false },
];

for (const { variable, title, transactions } of SERVERS)
  withServer(variable, title, (server) => {
    it('is what it is tested as', async () => {
      const opened = await openMongoServer({ url: server, dependency: 'test' });
      expect(opened.hasTransactions).toBe(transactions);
      await opened.close();
    });

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

    it('shows what another process wrote: at once to whoever looked where the view stands, to others within moments', async () => {
      const url = withDatabase(server, `test-${randomUUID()}`);
      const [writer, reader] = await Promise.all([openMongoReadStore({ url }), openMongoReadStore({ url })]);
      const commit = async (number: number): Promise<void> => {
        const operations = [{ op: 'put', key: 'a', row: { number } } as const];
        await writer.commit({ view: 'shared', version: 1, from: number === 1 ? null : String(number - 1), to: { position: String(number), handled: number }, fence: 1, changes: [{ position: String(number), operations }] });
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
        await expect(test.open(`${SECRET}.`)).rejects.toThrow(/VAULT_KEY is not the key that the vault on MongoDB was made with/);
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
        await vault.destroy({ thing: 'document-1' });
        expect(await stored()).not.toContain('wrapped');
        await close();
        await test.end();
      });
    });
  });

const SECRET = 'a secret of at least thirty-two characters';

/** The connection string with another database. */
const withDatabase = (url: string, database: string): string => url.replace(/^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/[^?]*)?/, `$1/${database}`);

const databaseOf = async (url: string, suffix = '') => {
  const server = await openMongoServer({ url, suffix, dependency: 'test' });
  return { db: server.db, close: () => server.close() };
};

const dropDatabase = async (url: string, suffix = ''): Promise<void> => {
  const { db, close } = await databaseOf(url, suffix);
  await db.dropDatabase();
  await close();
};
