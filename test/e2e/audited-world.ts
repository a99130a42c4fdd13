import { startTestPlatform, type TestPlatform } from './harness';

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

export let platform: TestPlatform;
export let agentId: string;
export let spaceId: string;
export let auditor: string;
export const create = async (path: string, body: unknown) =>
  (await platform.call<{ id: string }>(path, { method: 'POST', body })).body;
export const object = async (path: string, key?: string) =>
  platform.call(`/api/v1/audit/objects/${path}`, key === undefined ? {} : { key });

/** Starts a platform with an auditor, and an Agent that was changed. */
export const withAudited = (): void => {
  beforeAll(async () => {
    platform = await startTestPlatform({ listen: true });
    auditor = (
      await platform.newCaller({ role: 'auditor', permissions: ['audit:read'], agentIds: [], allAgents: false })
    ).key;
    spaceId = (await create('/api/v1/core/spaces', { name: 'Audited' })).id;
    agentId = (
      await create('/api/v1/core/agents', {
        spaceId,
        name: 'Before',
        description: 'a secret plan',
        systemPrompt: 'be brief',
      })
    ).id;
    await platform.call(`/api/v1/core/agents/${agentId}`, { method: 'PUT', body: { name: 'After' } });
  });
  afterAll(() => platform.stop());
};
