import { startTestPlatform, type TestPlatform } from './harness';
import { makeWorld, type World } from './world';

export const SESSION = '/api/v1/session';
export const ME = '/api/v1/core/users/me';
export const COOKIE_FORM = /^ap_session=(as_[\w-]{64}); Path=\/; HttpOnly; SameSite=Strict; Expires=([^;]+ GMT)$/;

export let platform: TestPlatform;
export let world: World;

/** A platform for the tests of a file. */
export const withSessions = (): void => {
  beforeAll(async () => {
    platform = await startTestPlatform();
    world = await makeWorld(platform);
  });
  afterAll(() => platform.stop());
};

export const post = (apiKey: unknown, headers: Readonly<Record<string, string>> = {}) =>
  platform.call<{ userId: string; expiresAt: string }>(SESSION, {
    method: 'POST',
    key: null,
    headers,
    body: { apiKey },
  });
/** The `cookie` header of a browser that signed in with a key. */
export const signIn = async (apiKey: string): Promise<string> => {
  const { headers, text } = await post(apiKey);
  const [, secret] = COOKIE_FORM.exec(String(headers['set-cookie'])) ?? [];
  if (secret === undefined) throw new Error(`not signed in: ${text}`);
  return `ap_session=${secret}`;
};
export const byCookie = <T = Record<string, unknown>>(
  path: string,
  cookie: string,
  {
    method = 'GET',
    headers = {},
    body,
  }: { method?: 'GET' | 'POST' | 'PUT' | 'DELETE'; headers?: Record<string, string>; body?: object } = {},
) =>
  platform.call<T>(path, {
    method,
    key: null,
    headers: { cookie, ...headers },
    ...(body === undefined ? {} : { body }),
  });
