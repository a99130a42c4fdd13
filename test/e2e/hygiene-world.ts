import type { ServedRoute } from '@app/http';
import { startTestPlatform, type TestPlatform } from './harness';
import { makeWorld, type World } from './world';

/** Input that is meant to be read in another way than it is written. */

export let platform: TestPlatform;
export let world: World;
export let routes: readonly ServedRoute[];
export let documents: string;

/** Starts a platform with one of everything. */
export const withHygiene = (): void => {
  beforeAll(async () => {
    platform = await startTestPlatform({ listen: true });
    world = await makeWorld(platform);
    routes = platform.platform.routes.routes.filter(({ method }) => method !== 'HEAD');
    documents = `/api/v1/core/knowledge/${world.ids['agentId']}/documents`;
  });
  afterAll(() => platform.stop());
};
