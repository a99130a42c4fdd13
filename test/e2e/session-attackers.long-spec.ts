import { byCookie, ME, platform, post, SESSION, signIn, withSessions, world } from './session-world';
import { wholeLog } from '../fixtures/whole-log';

withSessions();

describe('a page of another origin', () => {
  const FOREIGN: readonly Readonly<Record<string, string>>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://localhost:80@evil.example' },
    { origin: 'http://localhost:81' },
    { origin: 'http://localhost.evil.example' },
    { origin: 'file://localhost:80' },
    { origin: '' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ];

  it('starts no session, and writes nothing in one', async () => {
    const { key, userId } = await platform.newCaller({ role: 'admin' });
    const cookie = await signIn(key);
    const before = await platform.platform.host.stores.log.head();
    for (const headers of FOREIGN) {
      expect([headers, await post(key, headers)]).toMatchObject([{}, { status: 403, body: { code: 'forbidden' } }]);
      for (const [method, path, body] of [
        ['PUT', ME, { name: 'Mallory' }],
        ['DELETE', SESSION, undefined],
        ['DELETE', `/api/v1/core/users/${userId}`, undefined],
        ['GET', ME, undefined],
      ] as const)
        expect([headers, await byCookie(path, cookie, { method, headers, ...(body && { body }) })]).toMatchObject([
          {},
          { status: 403, body: { code: 'forbidden', detail: expect.stringContaining('another origin') } },
        ]);
    }
    const events = await wholeLog(platform.platform.host.stores.log, { after: before });
    // What the platform notes of itself goes on meanwhile.
    const actorOf = ({ metadata }: { readonly metadata: string }) => (JSON.parse(metadata) as { actor: string }).actor;
    expect(events.filter((event) => !actorOf(event).startsWith('system:'))).toEqual([]);
  });

  it('is rejected on every route, and one of this origin is not', async () => {
    const cookie = await signIn((await platform.newCaller({ role: 'admin' })).key);
    const secured = platform.platform.routes.routes.filter(
      ({ declaration }) => !['public', 'docs', 'compat'].includes(String(declaration.requires)),
    );
    expect(secured.length).toBeGreaterThan(100);
    for (const { method, url } of secured) {
      const headers = { origin: 'https://evil.example' };
      const answer = await byCookie(world.path({ url }), cookie, { method: method as 'GET', headers });
      expect([method, url, answer.status]).toEqual([method, url, 403]);
    }
    for (const headers of [{ origin: 'http://localhost:80' }, { 'sec-fetch-site': 'same-origin' }, {}])
      expect(
        (
          await byCookie(ME, cookie, {
            method: 'PUT',
            headers: { host: 'localhost:80', ...headers },
            body: { name: 'A' },
          })
        ).status,
      ).toBe(headers.origin === undefined ? 200 : 403);
    expect(
      (
        await byCookie(ME, cookie, {
          method: 'PUT',
          headers: { host: 'localhost:8080', origin: 'http://localhost:8080' },
          body: { name: 'A' },
        })
      ).status,
    ).toBe(200);
  });

  it('gets no cookie taken by the gateway', async () => {
    const cookie = await signIn((await platform.newCaller()).key);
    expect((await byCookie('/api/compat/v1/models', cookie)).status).toBe(401);
  });
});

describe('a cookie', () => {
  it('that was planted, doubled or made up opens nothing', async () => {
    const [mine, theirs] = [
      await signIn((await platform.newCaller()).key),
      await signIn((await platform.newCaller()).key),
    ];
    const { key } = await platform.newCaller();
    const secret = mine.slice('ap_session='.length);
    for (const cookie of [
      `${mine}; ${theirs}`,
      `${mine}; ap_session=`,
      `${mine}; ${mine}`,
      `ap_session="${secret}"`,
      `ap_session=${key}`,
      `ap_session=ap_${secret.slice(3)}`,
      `ap_session=${secret.slice(0, 25)}${theirs.slice('ap_session='.length + 25)}`,
      `ap_session=${'x'.repeat(600)}`,
      `AP_SESSION=${secret}`,
      `ap_session=`,
    ])
      expect([cookie, (await byCookie(ME, cookie)).status]).toEqual([cookie, 401]);
    expect((await platform.call(ME, { key: secret })).status).toBe(401);
    expect(
      (await platform.call(ME, { key: null, headers: { authorization: `Bearer ${secret}`, cookie: mine } })).status,
    ).toBe(401);
  });

  it('is made anew at each sign-in, whatever the browser holds', async () => {
    const planted = await signIn((await platform.newCaller()).key);
    const { key, userId } = await platform.newCaller();
    const started = await post(key, { cookie: planted });
    const cookie = String(started.headers['set-cookie']).split(';')[0] as string;
    expect(started).toMatchObject({ status: 201, body: { userId } });
    expect(cookie).not.toBe(planted);
    expect((await byCookie(ME, cookie)).body['id']).toBe(userId);
  });

  it('beside a key does not count', async () => {
    const [one, other] = [await platform.newCaller(), await platform.newCaller()];
    const cookie = await signIn(one.key);
    expect((await platform.call(ME, { key: other.key, headers: { cookie } })).body['id']).toBe(other.userId);
    expect((await platform.call(ME, { key: 'ap_wrong', headers: { cookie } })).status).toBe(401);
    expect(
      (await platform.call(ME, { key: other.key, headers: { cookie, origin: 'https://other.example' } })).status,
    ).toBe(200);
  });

  it('is dead from the answer to the revocation on, however many ask meanwhile', async () => {
    for (let round = 0; round < 20; round += 1) {
      const { key, keyId } = await platform.newCaller();
      const cookie = await signIn(key);
      let revoked = false;
      const late: number[] = [];
      const asking = Array.from({ length: 5 }, async () => {
        for (let asked = 0; asked < 10; asked += 1) {
          const isLate = revoked;
          const { status } = await byCookie(ME, cookie);
          if (isLate) late.push(status);
        }
      });
      const way = round % 2 === 0 ? `/api/v1/core/api-keys/${keyId}` : SESSION;
      const ended =
        way === SESSION
          ? await byCookie(SESSION, cookie, { method: 'DELETE' })
          : await platform.call(way, { method: 'DELETE' });
      revoked = true;
      expect(ended.status).toBe(204);
      late.push((await byCookie(ME, cookie)).status);
      await Promise.all(asking);
      expect(new Set(late)).toEqual(new Set([401]));
    }
  });
});
