import { ADMIN_KEY, startTestPlatform, type TestPlatform } from './harness';
import { sendBroken } from './several-appends';
import { REQUESTS as SEVERAL } from './several-appends-requests';
import { makeWorld, SINGLE_APPENDS as REQUESTS, type World } from './world';

const CORE = '/api/v1/core';
const OPERATIONS = '/api/v1/operations';
const SESSION = '/api/v1/session';

let platform: TestPlatform;
let world: World;
beforeAll(async () => {
  platform = await startTestPlatform();
  world = await makeWorld(platform);
});
afterAll(() => platform.stop());

const UPLOAD: { payload?: string; headers?: Readonly<Record<string, string>> } = {
  payload:
    '--w\r\ncontent-disposition: form-data; name="file"; filename="a.md"\r\n\r\n---\nname: A\ndescription: B.\n---\nC.\r\n--w--\r\n',
  headers: { 'content-type': 'multipart/form-data; boundary=w' },
};
/** Uploads take no Idempotency-Key. */
const withoutKey = (headers: Readonly<Record<string, string>>, file: typeof UPLOAD) =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => file.payload === undefined || !/idempotency/i.test(name)),
  );

/** A session is ended by its own cookie. */
const signedIn = async (): Promise<{ headers?: { cookie: string } }> => {
  const { headers } = await platform.call(SESSION, { method: 'POST', body: { apiKey: ADMIN_KEY } });
  return { headers: { cookie: String(headers['set-cookie']).split(';')[0] as string } };
};

it.each(REQUESTS.map(([route, body]) => ({ route, body })))('$route appends once at most', async ({ route, body }) => {
  const [method, url] = route.split(' ') as ['POST' | 'PUT' | 'DELETE', string];
  const needsLimit = [url, JSON.stringify(body ?? '')].some((text) => text.includes(':limitId'));
  const limitId = needsLimit
    ? (
        await platform.call<{ id: string }>(`${CORE}/cost-control`, {
          method: 'POST',
          body: { scope: { type: 'instance' }, amount: '50', window: 'day', action: 'warn' },
        })
      ).body.id
    : '';
  const path = world.path({ url: url.replace(':limitId', limitId) });
  const given =
    body === undefined
      ? {}
      : {
          body: JSON.parse(
            JSON.stringify(body)
              .replace(':limitId', limitId)
              .replace(':versionId', world.ids['versionId'] ?? '')
              .replace(':skillId', world.ids['skillId'] ?? '')
              .replace(':documentId', world.ids['documentId'] ?? ''),
          ) as object,
        };
  const caller = url === SESSION && method === 'DELETE' ? await signedIn() : {};
  const file = /\/draft(?:\/files\/|$)/.test(url) && method === 'PUT' ? UPLOAD : {};
  const { answer, appends } = await sendBroken(platform, (headers) =>
    platform.call(path, {
      method,
      ...given,
      ...file,
      headers: { ...withoutKey(headers, file), ...caller.headers, ...file.headers },
      ...(caller.headers && { key: null }),
    }),
  );
  // Operations and jobs that there is nothing to do for are rejected behind their record, or before it.
  // The local models generate text alone, and call no tools.
  if (!url.startsWith(OPERATIONS) && !/\/reindex\/|\/generate(?!Text)|\/transcribe$|\/tools\//.test(url))
    expect([answer.status >= 200 && answer.status < 300, answer.text]).toEqual([true, answer.text]);
  expect(answer.status).toBeLessThan(500);
  expect(appends).toBeLessThanOrEqual(1);
});

it('and there are no others', () => {
  const written = platform.platform.routes.routes.filter(
    ({ method, url }) => ['POST', 'PUT', 'DELETE'].includes(method) && !url.startsWith('/api/compat/'),
  );
  const known = new Set([
    ...SEVERAL.map(([route]) => route),
    ...REQUESTS.map(([route]) => route.replace('/versions/0/', '/versions/:revision/')),
  ]);
  expect(written.map(({ method, url }) => `${method} ${url}`).filter((route) => !known.has(route))).toEqual([]);
});
