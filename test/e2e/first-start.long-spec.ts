import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeLogger } from '@app/http';
import { FIRST_ADMIN_ID } from '@app/identity';
import { readConfig } from '@app/kernel';
import { startProgram } from '@app/process';
import { Projecting } from '@app/projecting';
import { Follower } from '../../libs/projecting/src/following/follower';
import { api } from '../../apps/api/src/program';
import { startEventStoreDouble } from '../servers/eventstoredb/double';
import { startChild } from './child';
import { startTestPlatform } from './harness';
import { operatorOn } from './on-stores';

const MAIN = 'apps/api/src/main.ts';
let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'first-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a first start', () => {
  it('on a port that is in use says what to try and makes no key, and the next start shows it', async () => {
    const busy = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => busy.once('listening', resolve));
    const { port } = busy.address() as AddressInfo;
    const environment = { DATA_DIR: join(folder, 'data'), LOG_LEVEL: 'silent' };
    await expect(startChild(MAIN, { ...environment, PORT: String(port) })).rejects.toThrow(
      `ended with 1: Port ${port} is in use. Try PORT=${port === 65_535 ? 3_000 : port + 1} npm start.\n`,
    );
    await new Promise((resolve) => busy.close(resolve));
    const second = await startChild(MAIN, { ...environment, PORT: '0' });
    try {
      const [key = ''] = /ap_[\w-]{64}/.exec(second.output()) ?? [];
      expect((await fetch(`${second.url}/api/v1/core/users`, { headers: { 'x-api-key': key } })).status).toBe(200);
    } finally {
      await second.stop();
    }
  });

  it('answers nobody before it is over, but says how it is', async () => {
    const seen: number[] = [];
    const environment = { DATA_DIR: join(folder, 'data'), PORT: '0', LOG_LEVEL: 'silent' };
    let made = '';
    const platform = await startProgram(api, readConfig(environment), environment, makeLogger('silent'), {
      listen: async (app) => {
        await app.listen({ host: '127.0.0.1', port: 0 });
        const url = await app.getUrl();
        for (const path of ['/health/live', '/health/ready', '/api/v1/core/users', '/docs'])
          seen.push((await fetch(`${url}${path}`)).status);
      },
      madeKey: (secret) => (made = secret),
    });
    const { status } = await fetch(`${await platform.app.getUrl()}/api/v1/core/users`, {
      headers: { 'x-api-key': made },
    });
    await platform.stop();
    expect([seen, status]).toEqual([[200, 503, 503, 503], 200]);
  });
});

it('shows the first admin to their first request, however late the views begin', async () => {
  const { promise: waitedFor, resolve: begins } = Promise.withResolvers<void>();
  const begin = Follower.start.bind(Follower);
  jest.spyOn(Follower, 'start').mockImplementation(async (options) => {
    const follower = await begin(options);
    void follower.hold(() => waitedFor);
    return follower;
  });
  const waitFor = Projecting.prototype.waitFor;
  jest.spyOn(Projecting.prototype, 'waitFor').mockImplementation(function (this: Projecting, ...asked) {
    begins();
    return waitFor.apply(this, asked);
  });
  const platform = await startTestPlatform();
  const { status, body } = await platform.call('/api/v1/core/users/me');
  begins();
  await platform.stop();
  expect([status, body]).toEqual([200, expect.objectContaining({ id: FIRST_ADMIN_ID })]);
});

describe('where no key of an admin is left', () => {
  it.each(['embedded', 'on servers'])(
    'an operator makes one in the stores, %s, and the log says who and why',
    async (kind) => {
      const server = kind === 'embedded' ? undefined : await startEventStoreDouble();
      const environment = {
        VAULT_KEY: 'the vault key of a test of lost keys',
        SEAL_KEY: 'the seal key of a test of lost keys',
        ...(server === undefined ? {} : { EVENTSTORE_URL: server.url }),
      };
      const dataDir = join(folder, 'data');
      // What only the product needs keeps nobody from a key.
      const stores = { ...environment, DATA_DIR: dataDir, MODELS_FILE: join(folder, 'no-models.json') };
      const words = ['create-admin-key', '--reason', 'The only key was revoked', '--by', 'Ada'] as const;
      try {
        const first = await startTestPlatform({ environment, dataDir });
        const { body } = await first.call<{ items: { id: string }[] }>('/api/v1/core/api-keys');
        expect((await first.call(`/api/v1/core/api-keys/${body.items[0]?.id}`, { method: 'DELETE' })).status).toBe(204);
        expect((await first.call('/api/v1/core/users')).status).toBe(401);
        const whileRunning = await operatorOn(stores, ...words);
        expect([whileRunning.code, whileRunning.err]).toEqual([
          1,
          expect.stringContaining('in use by another process; stop it first'),
        ]);
        await first.stop({ keep: true });

        expect(await operatorOn(stores, ...words, '--user', '01900000-0000-7000-8000-0000000000aa')).toMatchObject({
          code: 2,
          err: expect.stringContaining(FIRST_ADMIN_ID) as string,
        });
        const { code, out } = await operatorOn(stores, '--json', ...words);
        const { secret, keyId, userId } = JSON.parse(out) as { secret: string; keyId: string; userId: string };
        expect([code, userId]).toEqual([0, FIRST_ADMIN_ID]);

        const second = await startTestPlatform({ environment, dataDir });
        expect((await second.call('/api/v1/core/users', { key: secret })).status).toBe(200);
        expect((await second.call(`/api/v1/core/api-keys/${keyId}`, { key: secret })).body).toMatchObject({
          userId,
          allAgents: true,
          usageLimit: null,
          expiresAt: null,
        });
        const events = await second.call<{ items: object[] }>(
          `/api/v1/audit/events?stream=operations-${keyId}&content=true`,
          { key: secret },
        );
        expect(events.body.items).toMatchObject([
          {
            type: 'AdminKeyRequested',
            data: { keyId, userId, by: 'Ada', reason: 'The only key was revoked' },
            meta: { actor: 'system:operator' },
          },
        ]);
        expect(
          (
            await second.call(`/api/v1/core/api-keys/${keyId}`, {
              key: secret,
              method: 'PUT',
              body: { name: 'Mine' },
              headers: { 'if-match': '"0"' },
            })
          ).status,
        ).toBe(200);
        await second.stop({ keep: true });
      } finally {
        await server?.stop();
      }
    },
  );

  it('nothing is made in a folder that is not the one of the stores', async () => {
    const { code, err } = await operatorOn({ DATA_DIR: join(folder, 'other') }, 'create-admin-key', '--reason', 'x');
    expect([code, err]).toEqual([1, expect.stringMatching(/^No log in .*\. Set DATA_DIR/)]);
    expect(existsSync(join(folder, 'other'))).toBe(false);
  });

  it('a reason is asked for', async () =>
    expect(await operatorOn({ DATA_DIR: folder }, 'create-admin-key')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--reason') as string,
    }));
});
