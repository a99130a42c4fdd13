import { type Keyring, Unavailable } from '@app/kernel';
import { ToolSecrets } from './tool-secrets';

const tool = {
  id: 'crm',
  name: 'CRM',
  kind: 'http',
  enabled: true,
  approval: 'never',
  http: { baseUrl: 'https://crm.example', document: '{}', secret: 'a secret of the CRM' },
} as const;

describe('secrets of tools', () => {
  const key = Buffer.alloc(32, 1);
  const keyring: Keyring = {
    ensureKey: async () => key,
    keys: async (names) => new Map(names.map((name) => [name, key])),
  };

  it('are sealed, and opened for their own tool alone', async () => {
    const secrets = new ToolSecrets(keyring);
    const { tools } = await secrets.sealed('a1', { tools: [tool] }, { spaceId: 's1' });
    const secret = String(tools[0]?.http?.secret);
    expect(secret).toMatch(/^v1\./);
    expect(await secrets.opened('a1', 'crm', secret)).toBe(tool.http.secret);
    await expect(secrets.opened('a1', 'erp', secret)).rejects.toThrow(/authenticate/);
  });

  it('of a new Agent whose key the vault did not confirm let nothing be done', async () => {
    const late = new Unavailable('vault', 'no answer', 'unknown');
    const secrets = new ToolSecrets({ ...keyring, ensureKey: () => Promise.reject(late) });
    await expect(secrets.sealed('a1', { tools: [tool] }, { spaceId: 's1' })).rejects.toMatchObject({
      name: 'Unavailable',
      outcome: 'none',
    });
  });
});
