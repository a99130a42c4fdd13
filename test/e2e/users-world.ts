import { startTestPlatform, type TestPlatform } from './harness';

export interface User {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly revision: number;
}

export const USERS = '/api/v1/core/users';
export const KEYS = '/api/v1/core/api-keys';
export let platform: TestPlatform;
let made = 0;
export const newUser = async (given: Record<string, unknown> = {}) => {
  made += 1;
  return (
    await platform.call<User>(USERS, {
      method: 'POST',
      body: { email: `mail${made}@example.org`, name: `Name ${made}`, role: 'member', ...given },
    })
  ).body;
};

/** Starts a platform. */
export const withUsers = (): void => {
  beforeAll(async () => (platform = await startTestPlatform()));
  afterAll(() => platform.stop());
};
