import {
  apiKeyDecider,
  type ApiKeyFields,
  ApiKeyUse,
  apiKeyUseDecider,
  bootstrap,
  BOOTSTRAP_KEY_ID,
  UpdateUser,
  CreateUser,
  FIRST_ADMIN_ID,
  hashedSecret,
  makeSecret,
  PERMISSIONS_OF_ROLE,
  sessionDecider,
  sessionIdIn,
  StartSession,
  StartSessionHandler,
  SuspendUser,
  USE_NOTED_EVERY_MS,
  userDecider,
} from '@app/identity';
import { type StreamLog, Unavailable } from '@app/kernel';
import { type Meddle, openTenancy, type Tenancy } from '../../../test/fixtures/tenancy';
import { Authenticator, keyCredential, sessionCredential } from './authenticator';

const CONFIGURED = 'a configured key of more than 32 characters';

let tenancy: Tenancy;
beforeEach(async () => (tenancy = await openTenancy()));
afterEach(() => tenancy.close());

const setUp = async (meddle?: Meddle, its?: StreamLog) => {
  const { clock, ids, secret } = tenancy;
  const process = tenancy.process(meddle, its);
  const unnoted: unknown[] = [];
  const authenticator = new Authenticator(
    process.decisions,
    secret,
    clock,
    new ApiKeyUse(process.decisions, clock, ids),
    { warn: (facts) => void unnoted.push(facts) },
  );
  const session = (userId: string, keyId: string) =>
    new StartSessionHandler(process.decisions, secret).execute(new StartSession({ userId, keyId }, tenancy.meta()));
  const start = (configured?: string) =>
    bootstrap({ ...process, commands: process.createUser, secret, clock, ids }, configured);
  const user = async (role: 'admin' | 'member' | 'auditor') =>
    (
      await process.createUser.execute(
        new CreateUser({ email: `${ids.next()}@example.com`, name: 'U', role, language: 'en' }, tenancy.meta()),
      )
    ).userId;
  const key = async (userId: string, given: Partial<ApiKeyFields> = {}) => {
    const keyId = ids.next();
    const text = makeSecret(keyId);
    const fields: ApiKeyFields = {
      name: 'k',
      agentIds: [],
      allAgents: false,
      permissions: ['llm', 'users:write'],
      usageLimit: null,
      expiresAt: null,
      ...given,
    };
    await process.decisions.transact(
      apiKeyDecider,
      keyId,
      { type: 'Create', userId, secret: hashedSecret(secret, text), fields },
      tenancy.meta(),
    );
    return { keyId, text };
  };
  return { process, authenticator, start, user, key, session, unnoted };
};

describe('the holder of an API key', () => {
  it('is known by the rights of now, for work behind its request, until the key expires or its user is suspended', async () => {
    const { authenticator, start, user, key, process } = await setUp();
    await start(CONFIGURED);
    const userId = await user('member');
    const expiresAt = new Date(tenancy.clock.now().getTime() + 60_000).toISOString();
    const [short, long] = [await key(userId, { expiresAt }), await key(userId, { allAgents: true })];
    expect(await authenticator.holder(short.keyId)).toMatchObject({ userId, permissions: new Set(['llm']) });
    expect(await authenticator.holder(BOOTSTRAP_KEY_ID)).toMatchObject({ role: 'admin', allAgents: true });
    expect(await authenticator.holder(tenancy.ids.next())).toBeUndefined();
    tenancy.clock.advance(60_000);
    expect(await authenticator.holder(short.keyId)).toBeUndefined();
    expect(await authenticator.holder(long.keyId)).toMatchObject({ userId, allAgents: true });
    await process.suspendUser.execute(new SuspendUser(userId, tenancy.meta()));
    expect(await authenticator.holder(long.keyId)).toBeUndefined();
  });
});

describe('an API key', () => {
  it('acts as its user, cut down to what the user may do today', async () => {
    const { authenticator, user, key, process, start } = await setUp();
    await start(CONFIGURED);
    const userId = await user('admin');
    const { keyId, text } = await key(userId, { agentIds: [FIRST_ADMIN_ID] });
    expect(await authenticator.authenticate(keyCredential(text))).toEqual({
      actor: `key:${keyId}`,
      onBehalfOf: `user:${userId}`,
      userId,
      role: 'admin',
      permissions: new Set(['llm', 'users:write']),
      keyId,
      agentIds: new Set([FIRST_ADMIN_ID]),
      allAgents: false,
    });
    await process.updateUser.execute(new UpdateUser(userId, {}, 'member', tenancy.meta()));
    expect(await authenticator.authenticate(keyCredential(text))).toMatchObject({
      role: 'member',
      permissions: new Set(['llm']),
    });
    expect([...PERMISSIONS_OF_ROLE.auditor]).toEqual(['audit:read', 'audit:content']);
  });

  it('is rejected from the moment it is revoked, has expired, or its user is suspended', async () => {
    const { authenticator, user, key, process } = await setUp();
    const userId = await user('member');
    const [revoked, expiring, other] = [
      await key(userId),
      await key(userId, { expiresAt: new Date(tenancy.clock.now().getTime() + 1_000).toISOString() }),
      await key(userId),
    ];
    expect(await authenticator.authenticate(keyCredential(revoked.text))).toBe(
      authenticator.recognise(keyCredential(revoked.text)),
    );
    await process.decisions.transact(apiKeyDecider, revoked.keyId, { type: 'Revoke' }, tenancy.meta());
    expect(authenticator.recognise(keyCredential(revoked.text))).toBeUndefined();
    expect(await authenticator.authenticate(keyCredential(revoked.text))).toBeUndefined();
    expect(await authenticator.authenticate(keyCredential(expiring.text))).toBeDefined();
    tenancy.clock.advance(1_000);
    expect(await authenticator.authenticate(keyCredential(expiring.text))).toBeUndefined();
    expect(await authenticator.authenticate(keyCredential(other.text))).toBeDefined();
    await process.suspendUser.execute(new SuspendUser(userId, tenancy.meta()));
    expect(await authenticator.authenticate(keyCredential(other.text))).toBeUndefined();
  });

  it('is nothing like it', async () => {
    const { authenticator, user, key } = await setUp();
    const { text, keyId } = await key(await user('member'));
    const forged = [
      makeSecret(keyId),
      text.slice(0, -1),
      `${text}A`,
      text.toUpperCase(),
      '',
      'ap_',
      "' OR '1'='1",
      '\u0000',
      'x'.repeat(64_000),
      keyId,
    ];
    for (const wrong of forged) expect(await authenticator.authenticate(keyCredential(wrong))).toBeUndefined();
  });

  it('is known while the log is away to requests that only read, and to no others', async () => {
    const { log } = tenancy;
    let isAway = false;
    const { authenticator, user, key } = await setUp(undefined, {
      append: (stream, events, expected) => log.append(stream, events, expected),
      readStream: (stream, options) =>
        isAway ? Promise.reject(new Unavailable('log', 'it is away')) : log.readStream(stream, options),
    });
    const { text } = await key(await user('member'));
    const known = await authenticator.authenticate(keyCredential(text));
    isAway = true;
    expect(await authenticator.authenticate(keyCredential(text), true)).toEqual(known);
    await expect(authenticator.authenticate(keyCredential(text))).rejects.toMatchObject({ reason: 'it is away' });
  });

  it('has its use noted once in a while', async () => {
    const { authenticator, user, key, process } = await setUp();
    const { text, keyId } = await key(await user('member'));
    const noted = async () => (await process.decisions.load(apiKeyUseDecider, keyId)).revision + 1;
    await authenticator.authenticate(keyCredential(text));
    while ((await noted()) < 1) await new Promise((resolve) => setImmediate(resolve));
    tenancy.clock.advance(USE_NOTED_EVERY_MS - 1);
    await authenticator.authenticate(keyCredential(text));
    tenancy.clock.advance(1);
    await authenticator.authenticate(keyCredential(text));
    while ((await noted()) < 2) await new Promise((resolve) => setImmediate(resolve));
    expect(await noted()).toBe(2);
  });

  it('works also while its use cannot be noted, which is told and tried again', async () => {
    let full = true;
    const { authenticator, user, key, process, unnoted } = await setUp((_, types) => {
      if (full && types.includes('ApiKeyUsed')) throw new Unavailable('log', 'the disk is full');
    });
    const { text, keyId } = await key(await user('member'));
    expect(await authenticator.authenticate(keyCredential(text))).toBeDefined();
    while (unnoted.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(unnoted).toMatchObject([{ error: { reason: 'the disk is full' } }]);
    full = false;
    await authenticator.authenticate(keyCredential(text));
    while ((await process.decisions.load(apiKeyUseDecider, keyId)).revision < 0)
      await new Promise((resolve) => setImmediate(resolve));
  });
});

describe('a session', () => {
  it('is opened by its own secret alone, until it ends', async () => {
    const { authenticator, user, key, session, process } = await setUp();
    const userId = await user('member');
    const { keyId, text } = await key(userId);
    const { secret } = await session(userId, keyId);
    const sessionId = sessionIdIn(secret) ?? '';
    expect(await authenticator.authenticate(sessionCredential(secret))).toMatchObject({ session: { id: sessionId } });
    const forged = `${secret.slice(0, -1)}${secret.endsWith('A') ? 'B' : 'A'}`;
    expect(sessionIdIn(forged)).toBe(sessionId);
    for (const wrong of [forged, text, ''])
      expect(await authenticator.authenticate(sessionCredential(wrong))).toBeUndefined();
    await process.decisions.transact(sessionDecider, sessionId, { type: 'End' }, tenancy.meta());
    expect(await authenticator.authenticate(sessionCredential(secret))).toBeUndefined();
  });

  it('lasts until it or its key expires, whichever is first', async () => {
    const { authenticator, user, key, session, process } = await setUp();
    const userId = await user('member');
    const [{ keyId: lasting }, { keyId: shortened }] = [await key(userId), await key(userId)];
    const [{ secret: own, expiresAt }, { secret: ofKey }] = [
      await session(userId, lasting),
      await session(userId, shortened),
    ];
    const keyEnds = new Date(tenancy.clock.now().getTime() + 1_000).toISOString();
    const shorten = { type: 'Update', fields: { expiresAt: keyEnds } } as const;
    await process.decisions.transact(apiKeyDecider, shortened, shorten, tenancy.meta());
    expect(await authenticator.authenticate(sessionCredential(ofKey))).toBeDefined();
    tenancy.clock.advance(1_000);
    expect(await authenticator.authenticate(sessionCredential(ofKey))).toBeUndefined();
    expect(await authenticator.authenticate(sessionCredential(own))).toBeDefined();
    tenancy.clock.advance(Date.parse(expiresAt) - tenancy.clock.now().getTime());
    expect(await authenticator.authenticate(sessionCredential(own))).toBeUndefined();
  });
});

describe('the bootstrap key', () => {
  it('is made at the first start, told once, and found again', async () => {
    const { authenticator, start, process } = await setUp();
    const { madeSecret } = await start();
    expect(madeSecret).toMatch(/^ap_[\w-]{64}$/);
    expect(await authenticator.authenticate(keyCredential(madeSecret ?? ''))).toMatchObject({
      userId: FIRST_ADMIN_ID,
      role: 'admin',
      allAgents: true,
      permissions: PERMISSIONS_OF_ROLE.admin,
    });
    const before = await tenancy.log.head();
    expect(await start()).toEqual({});
    expect((await tenancy.log.readAll({ after: before })).events.filter(({ type }) => type !== 'ApiKeyUsed')).toEqual(
      [],
    );
    expect((await process.decisions.load(userDecider, FIRST_ADMIN_ID)).state).toMatchObject({
      status: 'active',
      role: 'admin',
    });
  });

  it('has the secret of the configuration, which replaces the one before', async () => {
    const { authenticator, start } = await setUp();
    expect(await start(CONFIGURED)).toEqual({});
    expect(await authenticator.authenticate(keyCredential(CONFIGURED))).toBeDefined();
    const lookalike = makeSecret(tenancy.ids.next());
    await start(lookalike);
    expect(await authenticator.authenticate(keyCredential(CONFIGURED))).toBeUndefined();
    expect(await authenticator.authenticate(keyCredential(lookalike))).toBeDefined();
    await start();
    expect(await authenticator.authenticate(keyCredential(lookalike))).toBeDefined();
  });

  it('stays revoked', async () => {
    const { authenticator, start, process } = await setUp();
    await start(CONFIGURED);
    await process.decisions.transact(apiKeyDecider, BOOTSTRAP_KEY_ID, { type: 'Revoke' }, tenancy.meta());
    await start(CONFIGURED);
    expect(await authenticator.authenticate(keyCredential(CONFIGURED))).toBeUndefined();
  });

  it('gives its sessions up with its secret', async () => {
    const { authenticator, start, session } = await setUp();
    await start(CONFIGURED);
    const { secret } = await session(FIRST_ADMIN_ID, BOOTSTRAP_KEY_ID);
    expect(await authenticator.authenticate(sessionCredential(secret))).toMatchObject({ userId: FIRST_ADMIN_ID });
    await start(`${CONFIGURED}, another`);
    expect(await authenticator.authenticate(sessionCredential(secret))).toBeUndefined();
  });

  it('leaves its secret nowhere in the log', async () => {
    const { start } = await setUp();
    await start(CONFIGURED);
    const { events } = await tenancy.log.readAll();
    expect(events.some(({ type }) => type === 'ApiKeyCreated')).toBe(true);
    expect(JSON.stringify(events)).not.toContain(CONFIGURED);
  });
});
