import { startTestPlatform, type TestPlatform } from './harness';

export interface Space {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly role: string;
  readonly memberCount: number;
}

export const SPACES = '/api/v1/core/spaces';
export let platform: TestPlatform;
export let alice: { userId: string; key: string };
export let mallory: { userId: string; key: string };
export let bob: { userId: string; key: string };
export const create = async (name: string, given: Record<string, unknown> = {}, key = alice.key) =>
  platform.call<Space>(SPACES, { key, method: 'POST', body: { name, ...given } });
export const setMember = (spaceId: string, userId: string, role: string, key = alice.key) =>
  platform.call(`${SPACES}/${spaceId}/members/${userId}`, { key, method: 'PUT', body: { role } });

/** Starts a platform with three users, with further variables of its environment as they are then. */
export const withSpaces = (environment: () => Readonly<Record<string, string>> = () => ({})): void => {
  beforeAll(async () => {
    platform = await startTestPlatform({ environment: environment() });
    [alice, mallory, bob] = [await platform.newCaller(), await platform.newCaller(), await platform.newCaller()];
  });
  afterAll(() => platform.stop());
};
