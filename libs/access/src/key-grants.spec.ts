import { apiKeyDecider, type ApiKeyFields, type Permission } from '@app/identity';
import type { Caller } from './caller';
import {
  agentId,
  caller,
  owner,
  process,
  scope,
  tenancy,
  UNKNOWN,
  user,
  withAccess,
} from '../../../test/fixtures/accessed';

withAccess();

describe('what a key may be given', () => {
  const fields = (given: Partial<ApiKeyFields>): Partial<ApiKeyFields> => given;

  it('is no more than its user and its giver have', async () => {
    await expect(
      scope.assert(caller(owner), owner, fields({ permissions: ['llm'], agentIds: [agentId] })),
    ).resolves.toBeUndefined();
    await expect(scope.assert(caller(owner), owner, fields({ permissions: ['agents:read'] }))).rejects.toMatchObject({
      code: 'forbidden',
      facts: { path: 'permissions' },
    });
    const admin = caller(await user(), { role: 'admin', permissions: new Set<Permission>(['users:write', 'llm']) });
    await expect(scope.assert(admin, owner, fields({ permissions: ['users:write'] }))).rejects.toMatchObject({
      code: 'forbidden',
    });
    await expect(
      scope.assert(caller(owner, { allAgents: false }), owner, fields({ allAgents: true })),
    ).rejects.toMatchObject({ code: 'forbidden', facts: { path: 'allAgents' } });
    await expect(scope.assert(admin, UNKNOWN, fields({}))).rejects.toMatchObject({ code: 'not_found' });
  });

  it('holds no Agent out of reach, unknown ones alike', async () => {
    const stranger = await user();
    for (const id of [agentId, UNKNOWN])
      await expect(scope.assert(caller(stranger), stranger, fields({ agentIds: [id] }))).rejects.toMatchObject({
        code: 'agent_not_granted',
      });
    await expect(
      scope.assert(caller(owner, { allAgents: false }), owner, fields({ agentIds: [agentId] })),
    ).rejects.toMatchObject({ code: 'agent_not_granted' });
    const granted = caller(owner, { allAgents: false, agentIds: new Set([agentId]) });
    await expect(scope.assert(granted, owner, fields({ agentIds: [agentId] }))).resolves.toBeUndefined();
  });

  it('lasts no longer and spends no more than the key that gives it', async () => {
    const keyId = tenancy.ids.next();
    const own: ApiKeyFields = {
      name: 'k',
      agentIds: [],
      allAgents: true,
      permissions: ['llm'],
      usageLimit: { amount: '5', window: 'day' },
      expiresAt: '2027-01-01T00:00:00.000Z',
    };
    await process.decisions.transact(
      apiKeyDecider,
      keyId,
      { type: 'Create', userId: owner, secret: { prefix: 'p', secretHash: 'h' }, fields: own },
      tenancy.meta(),
    );
    const giver = caller(owner, { keyId });
    const current = await scope.key(giver, keyId);
    const within = { expiresAt: '2026-06-01T00:00:00.000Z', usageLimit: { amount: '4.999', window: 'day' } } as const;
    await expect(scope.assert(giver, owner, within, current)).resolves.toBeUndefined();
    await expect(scope.assert(giver, owner, { name: 'other' }, current)).resolves.toBeUndefined();
    for (const expiresAt of [null, '2027-01-01T00:00:00.001Z'])
      await expect(scope.assert(giver, owner, { ...within, expiresAt }, current)).rejects.toMatchObject({
        facts: { path: 'expiresAt' },
      });
    // Another time zone has another day, of which less may be spent by now.
    for (const usageLimit of [
      null,
      { amount: '5.000000001', window: 'day' },
      { amount: '1', window: 'month' },
      { amount: '5', window: 'day', timeZone: 'Pacific/Kiritimati' },
      { amount: '5', window: 'day', action: 'warn' },
    ] as const) {
      await expect(scope.assert(giver, owner, { ...within, usageLimit }, current)).rejects.toMatchObject({
        facts: { path: 'usageLimit' },
      });
    }
    await expect(scope.assert(giver, owner, within)).rejects.toMatchObject({
      code: 'forbidden',
      facts: { path: 'usageLimit' },
    });
  });

  it('includes no more than whoever sets limits has said', async () => {
    const usageLimit = { amount: '5', window: 'day', includedAmount: '3' } as const;
    await expect(scope.assert(caller(owner), owner, fields({ usageLimit }))).rejects.toMatchObject({
      code: 'forbidden',
      facts: { path: 'usageLimit.includedAmount' },
    });
    const admin = caller(await user(), { role: 'admin', permissions: new Set<Permission>(['cost:write']) });
    await expect(scope.assert(admin, owner, fields({ usageLimit }))).resolves.toBeUndefined();
    const keyId = tenancy.ids.next();
    const given: ApiKeyFields = {
      name: 'k',
      agentIds: [],
      allAgents: true,
      permissions: ['llm'],
      usageLimit,
      expiresAt: null,
    };
    await process.decisions.transact(
      apiKeyDecider,
      keyId,
      { type: 'Create', userId: owner, secret: { prefix: 'p', secretHash: 'h' }, fields: given },
      tenancy.meta(),
    );
    const current = await scope.key(caller(owner), keyId);
    await expect(
      scope.assert(caller(owner), owner, fields({ usageLimit: { ...usageLimit, amount: '4' } }), current),
    ).resolves.toBeUndefined();
    await expect(
      scope.assert(caller(owner), owner, fields({ usageLimit: { ...usageLimit, includedAmount: '3.1' } }), current),
    ).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('is asked again by what it has when it is changed', async () => {
    const keyId = tenancy.ids.next();
    const had: ApiKeyFields = {
      name: 'k',
      agentIds: [UNKNOWN],
      allAgents: false,
      permissions: ['agents:read'],
      usageLimit: null,
      expiresAt: null,
    };
    const decide = (command: Parameters<(typeof apiKeyDecider)['decide']>[0]) =>
      process.decisions.transact(apiKeyDecider, keyId, command, tenancy.meta());
    await decide({ type: 'Create', userId: owner, secret: { prefix: 'p', secretHash: 'h' }, fields: had });
    const giver = caller(owner);
    const kept = await scope.changing(giver, keyId, () => ({ permissions: ['agents:read'] }));
    const again = await scope.changing(giver, keyId, () => ({ agentIds: [UNKNOWN] }), [UNKNOWN]);
    await decide({ type: 'Update', fields: { permissions: [], agentIds: [] } });
    await expect(decide({ type: 'Update', fields: kept })).rejects.toMatchObject({ facts: { path: 'permissions' } });
    await expect(decide({ type: 'Update', fields: again })).rejects.toMatchObject({ code: 'conflict' });
    expect(await scope.find(caller(await user()), keyId)).toBeUndefined();
    expect(await scope.find(caller(await user(), { role: 'admin' }), keyId)).toMatchObject({ userId: owner });
  });

  describe('that does more than whoever changes it', () => {
    const had: ApiKeyFields = {
      name: 'k',
      agentIds: [UNKNOWN],
      allAgents: false,
      permissions: ['llm', 'skills:read'],
      usageLimit: null,
      expiresAt: '2027-01-01T00:00:00.000Z',
    };
    /** A key of the owner, as whoever changes it finds it. */
    const key = async (given: Partial<ApiKeyFields>) => {
      const keyId = tenancy.ids.next();
      const secret = { prefix: 'p', secretHash: 'h' };
      const create = { type: 'Create', userId: owner, secret, fields: { ...had, ...given } } as const;
      await process.decisions.transact(apiKeyDecider, keyId, create, tenancy.meta());
      return scope.key(caller(owner), keyId);
    };
    const narrow = (given: Partial<Caller> = {}) =>
      caller(owner, {
        allAgents: false,
        agentIds: new Set([agentId]),
        permissions: new Set<Permission>(['llm', 'skills:write']),
        ...given,
      });

    it.each<[string, Partial<ApiKeyFields>, Partial<ApiKeyFields>, object]>([
      ['permission', {}, { permissions: ['skills:write'] }, { path: 'permissions', reason: 'key_exceeds' }],
      ['Agent', {}, { agentIds: [agentId] }, { path: 'agentIds', reason: 'key_exceeds' }],
      ['time', {}, { expiresAt: null }, { path: 'expiresAt' }],
      ['money', { usageLimit: { amount: '5', window: 'day' } }, { usageLimit: null }, { path: 'usageLimit' }],
    ])('gets no other %s', async (_, has, fields, facts) => {
      const current = await key(has);
      await expect(scope.assert(narrow(), owner, fields, current)).rejects.toMatchObject({ code: 'forbidden', facts });
    });

    it('does not get all Agents either, of who may use all of them', async () => {
      const giver = narrow({ allAgents: true });
      await expect(scope.assert(giver, owner, { allAgents: true }, await key({}))).rejects.toMatchObject({
        facts: { path: 'allAgents', reason: 'key_exceeds' },
      });
    });

    it('gets nothing where it is an Agent that it has more, and may be renamed and cut down', async () => {
      const current = await key({ permissions: ['llm'] });
      await expect(scope.assert(narrow(), owner, { permissions: ['skills:write'] }, current)).rejects.toMatchObject({
        facts: { reason: 'key_exceeds' },
      });
      const less = { name: 'other', agentIds: [], permissions: [], expiresAt: '2026-06-01T00:00:00.000Z' };
      await expect(scope.assert(narrow(), owner, less, current)).resolves.toBeUndefined();
    });

    it('is one with all Agents, too, and none with those that its changer has, or all', async () => {
      const more: Partial<ApiKeyFields> = { permissions: ['skills:write'] };
      const all = await key({ permissions: ['llm'], agentIds: [], allAgents: true });
      await expect(scope.assert(narrow(), owner, more, all)).rejects.toMatchObject({
        facts: { reason: 'key_exceeds' },
      });
      const same = await key({ permissions: ['llm'], agentIds: [agentId] });
      await expect(scope.assert(narrow(), owner, more, same)).resolves.toBeUndefined();
      const others = await key({ permissions: ['llm'] });
      await expect(scope.assert(narrow({ allAgents: true }), owner, more, others)).resolves.toBeUndefined();
    });

    it('may be told to spend less, by a limit that warns where its own does', async () => {
      const current = await key({ usageLimit: { amount: '5', window: 'day', action: 'warn' } });
      const less = fields({ usageLimit: { amount: '4', window: 'day', action: 'warn' } });
      await expect(scope.assert(narrow(), owner, less, current)).resolves.toBeUndefined();
      await expect(scope.assert(narrow(), owner, { name: 'other' }, current)).resolves.toBeUndefined();
    });

    it('is what it may do today that counts: what the role of its user lost is nothing more', async () => {
      const current = await key({ agentIds: [], permissions: ['llm', 'users:write'] });
      await expect(scope.assert(narrow(), owner, { permissions: ['skills:write'] }, current)).resolves.toBeUndefined();
    });
  });

  it('is given nothing by a key that has ended', async () => {
    const keyId = tenancy.ids.next();
    const fields: ApiKeyFields = {
      name: 'k',
      agentIds: [],
      allAgents: true,
      permissions: ['llm'],
      usageLimit: null,
      expiresAt: null,
    };
    const decide = (command: Parameters<(typeof apiKeyDecider)['decide']>[0]) =>
      process.decisions.transact(apiKeyDecider, keyId, command, tenancy.meta());
    await decide({ type: 'Create', userId: owner, secret: { prefix: 'p', secretHash: 'h' }, fields });
    const limited = { usageLimit: { amount: '5', window: 'day' } } as const;
    for (const given of [{}, limited])
      await expect(scope.assert(caller(owner, { keyId }), owner, given)).resolves.toBeUndefined();
    await decide({ type: 'Revoke' });
    await expect(scope.assert(caller(owner, { keyId }), owner, {})).rejects.toMatchObject({
      facts: { reason: 'key_ended' },
    });
  });

  it('may keep what it has', async () => {
    const keyId = tenancy.ids.next();
    const wide: ApiKeyFields = {
      name: 'k',
      agentIds: [UNKNOWN],
      allAgents: true,
      permissions: ['agents:read'],
      usageLimit: null,
      expiresAt: null,
    };
    await process.decisions.transact(
      apiKeyDecider,
      keyId,
      { type: 'Create', userId: owner, secret: { prefix: 'p', secretHash: 'h' }, fields: wide },
      tenancy.meta(),
    );
    const current = await scope.key(caller(owner), keyId);
    await expect(scope.assert(caller(owner, { allAgents: false }), owner, wide, current)).resolves.toBeUndefined();
    await expect(scope.key(caller(await user()), keyId)).rejects.toMatchObject({ code: 'not_found' });
  });
});
