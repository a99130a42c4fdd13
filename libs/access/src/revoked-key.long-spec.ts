import { type EventLog, openEventStoreLog } from '@app/event-log';
import {
  apiKeyDecider,
  type ApiKeyFields,
  ApiKeyUse,
  CreateUser,
  hashedSecret,
  makeSecret,
  sessionDecider,
  sessionIdIn,
  StartSession,
  StartSessionHandler,
  SuspendUser,
} from '@app/identity';
import { inReadScope } from '@app/kernel';
import { openTenancy, type Tenancy } from '../../../test/fixtures/tenancy';
import { type EventStoreDouble, startEventStoreDouble } from '../../../test/servers/eventstoredb/double';
import { Authenticator, keyCredential, sessionCredential } from './authenticator';

const KEYS = 500;
const FIELDS: ApiKeyFields = {
  name: 'k',
  agentIds: [],
  allAgents: true,
  permissions: ['llm'],
  usageLimit: null,
  expiresAt: null,
};

describe('keys on a log that several processes write', () => {
  let tenancy: Tenancy;
  let server: EventStoreDouble;
  let logs: EventLog[];
  beforeEach(async () => {
    tenancy = await openTenancy();
    server = await startEventStoreDouble();
    logs = await Promise.all([openEventStoreLog({ url: server.url }), openEventStoreLog({ url: server.url })]);
  });
  afterEach(async () => {
    await Promise.all(logs.map((log) => log.close()));
    await server.stop();
    await tenancy.close();
  });

  const setUp = () => {
    const { clock, ids, secret } = tenancy;
    return logs.map((log) => {
      const process = tenancy.process(undefined, log);
      const authenticator = new Authenticator(
        process.decisions,
        secret,
        clock,
        new ApiKeyUse(process.decisions, clock, ids),
        { warn: () => undefined },
      );
      /** As a request does. */
      const isKnown = (text: string, reads: boolean): Promise<boolean> =>
        inReadScope(
          async () =>
            (authenticator.recognise(keyCredential(text)) ??
              (await authenticator.authenticate(keyCredential(text), reads))) !== undefined,
        );
      const user = async (): Promise<string> =>
        (
          await process.createUser.execute(
            new CreateUser(
              { email: `${ids.next()}@example.com`, name: 'U', role: 'member', language: 'en' },
              tenancy.meta(),
            ),
          )
        ).userId;
      const key = async (userId: string) => {
        const keyId = ids.next();
        const text = makeSecret(keyId);
        await process.decisions.transact(
          apiKeyDecider,
          keyId,
          { type: 'Create', userId, secret: hashedSecret(secret, text), fields: FIELDS },
          tenancy.meta(),
        );
        return { keyId, text };
      };
      const isSignedIn = (text: string, reads: boolean): Promise<boolean> =>
        inReadScope(
          async () =>
            (authenticator.recognise(sessionCredential(text)) ??
              (await authenticator.authenticate(sessionCredential(text), reads))) !== undefined,
        );
      const session = async (of: { userId: string; keyId: string }) =>
        (await new StartSessionHandler(process.decisions, secret).execute(new StartSession(of, tenancy.meta()))).secret;
      const revoke = (keyId: string) =>
        process.decisions.transact(apiKeyDecider, keyId, { type: 'Revoke' }, tenancy.meta());
      return { process, isKnown, isSignedIn, user, key, session, revoke };
    }) as [AskedProcess, AskedProcess];
  };
  type AskedProcess = {
    process: ReturnType<Tenancy['process']>;
    isKnown(text: string, reads: boolean): Promise<boolean>;
    isSignedIn(text: string, reads: boolean): Promise<boolean>;
    session(of: { userId: string; keyId: string }): Promise<string>;
    user(): Promise<string>;
    key(userId: string): Promise<{ keyId: string; text: string }>;
    revoke(keyId: string): Promise<unknown>;
  };

  it(`are rejected at the next request everywhere, ${KEYS} times out of ${KEYS}, while others are asked for`, async () => {
    const [here, there] = setUp();
    const userId = await here.user();
    const current = await here.key(userId);
    let [rejected, isOver] = [0, false];
    // What others ask for at the same process must not stand in for an answer.
    const others = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (!isOver) expect(await there.isKnown(current.text, true)).toBe(true);
      }),
    );
    const round = async (index: number): Promise<void> => {
      const [by, at] = index % 2 === 0 ? [here, there] : [there, here];
      const { keyId, text } = await by.key(userId);
      expect(await at.isKnown(text, true)).toBe(true);
      await by.revoke(keyId);
      if (!(await at.isKnown(text, index % 3 > 0))) rejected += 1;
    };
    for (let index = 0; index < KEYS; index += 20)
      await Promise.all(Array.from({ length: 20 }, (_, part) => round(index + part)));
    isOver = true;
    await others;
    expect(rejected).toBe(KEYS);
  });

  it('open no session from then on anywhere, nor does one that was ended', async () => {
    const [here, there] = setUp();
    const userId = await here.user();
    const end = (sessionId: string) =>
      here.process.decisions.transact(sessionDecider, sessionId, { type: 'End' }, tenancy.meta());
    for (let index = 0; index < 40; index += 1) {
      const { keyId, text } = await here.key(userId);
      const session = await here.session({ userId, keyId });
      expect(await there.isSignedIn(session, index % 3 > 0)).toBe(true);
      await (index % 2 === 0 ? here.revoke(keyId) : end(sessionIdIn(session) as string));
      expect(await there.isSignedIn(session, index % 3 > 0)).toBe(false);
      expect(await there.isKnown(text, true)).toBe(index % 2 === 1);
      // Neither passes for the other.
      expect(await there.isSignedIn(text, true)).toBe(false);
      expect(await there.isKnown(session, true)).toBe(false);
    }
  });

  it('are rejected everywhere once their user is suspended', async () => {
    const [here, there] = setUp();
    for (let index = 0; index < 20; index += 1) {
      const userId = await here.user();
      const { text } = await here.key(userId);
      expect(await there.isKnown(text, true)).toBe(true);
      await here.process.suspendUser.execute(new SuspendUser(userId, tenancy.meta()));
      expect(await there.isKnown(text, true)).toBe(false);
    }
  });
});
