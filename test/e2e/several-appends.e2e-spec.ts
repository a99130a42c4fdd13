import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentDecider, personalAgentOf } from '@app/agents';
import { userDecider } from '@app/identity';
import { systemClock } from '@app/kernel';
import { modelDecider } from '@app/models';
import { personalSpaceOf, spaceDecider } from '@app/spaces';
import { invocation, recordInvocations } from '../fixtures/invocations';
import { until } from '../fixtures/until';
import { ADMIN_KEY, type Answer, startTestPlatform, type TestPlatform } from './harness';
import { type Fault, sendBroken } from './several-appends';

/**
 * Every request that appends more than once, broken at each append. What is answered with an error has left nothing behind
 * (`outcome: none`), or is finished: by a repeat under its Idempotency-Key, and where none comes by a policy.
 */

const CORE = '/api/v1/core';
const OPERATIONS = '/api/v1/operations';
/** Longer than others have to wait for what is left unfinished: names, answers, restatements. */
const LATER_MS = 120_000;

interface Sent {
  readonly method?: 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: object;
  readonly key?: string;
  /** Sent as it is, and never repeated: uploads take no Idempotency-Key. */
  readonly payload?: string;
}

/** A request on things of its own, so that it can be broken again and again. */
interface Prepared {
  readonly sent: Sent;
  /** How often it happened, however far it came. */
  readonly times: () => Promise<number>;
  /** Where it happened all of it is there; where it did not nothing of it is in the way of others. */
  readonly isConsistent: () => Promise<boolean>;
}

let platform: TestPlatform;
let agentId: string;
let names = 0;
const folder = mkdtempSync(join(tmpdir(), 'several-'));
const file = join(folder, 'models.json');
const BOUNDARY = 'several';

beforeAll(async () => {
  catalogue('first');
  platform = await startTestPlatform({ environment: { MODELS_FILE: file } });
  agentId = await made('/agents', { name: 'Guide', knowledgeEnabled: false });
  await recordInvocations(
    platform.platform,
    [1, 2, 3].map((number) => invocation(number, { at: '2026-11-01T00:00:00.000Z' })),
  );
}, 60_000);
afterAll(async () => {
  await platform.stop();
  rmSync(folder, { recursive: true });
});

const name = (kind: string): string => `${kind}-${(names += 1)}`;
const stores = () => platform.platform.host.stores;
const made = async (path: string, body: object, key = ADMIN_KEY): Promise<string> => {
  const {
    status,
    body: answer,
    text,
  } = await platform.call<{ id: string }>(`${CORE}${path}`, { method: 'POST', body, key });
  if (status !== 201) throw new Error(`${path}: ${text}`);
  return answer.id;
};
const items = async <T = { id: string; name: string }>(path: string, key = ADMIN_KEY): Promise<readonly T[]> =>
  (await platform.call<{ items: T[] }>(path, { key })).body.items;
/** How many events of a type have a text in their stream, data or metadata. */
const events = async (type: string, text: string): Promise<number> => {
  let found = 0;
  for (let after: string | null = null; ;) {
    const page = await stores().log.readAll({ after, filter: { types: [type] } });
    found += page.events.filter(({ stream, data, metadata }) =>
      [stream, data, metadata].some((part) => part.includes(text)),
    ).length;
    if (page.end) return found;
    after = page.next;
  }
};
/** When whatever was left unfinished may be finished by others. */
const later = async <T>(work: () => Promise<T>): Promise<T> => {
  const clock = jest.spyOn(systemClock, 'now').mockImplementation(() => new Date(Date.now() + LATER_MS));
  try {
    return await work();
  } finally {
    clock.mockRestore();
  }
};
/** Whether somebody else may have what a request wanted. */
const isFree = async (path: string, body: object): Promise<boolean> => {
  const answer = await later(() => platform.call<{ id: string }>(`${CORE}${path}`, { method: 'POST', body }));
  if (answer.status === 201) await platform.call(`${CORE}${path}/${answer.body.id}`, { method: 'DELETE' });
  return answer.status === 201;
};
const catalogue = (displayName: string): void => {
  const models = ['one', 'two'].map((key) => ({
    key,
    displayName: `${displayName} ${key}`,
    provider: 'acme',
    kind: 'chat',
    pricing: 'free',
  }));
  writeFileSync(
    file,
    JSON.stringify({ providers: { acme: { kind: 'openai', baseUrl: 'http://127.0.0.1:1' } }, models }),
  );
};

const creatingAgent = async (): Promise<Prepared> => {
  const { key, keyId } = await platform.newCaller({ allAgents: false });
  const times = () => events('AgentCreated', `key:${keyId}`);
  const granted = async () =>
    (await platform.call<{ agentIds: string[] }>(`${CORE}/api-keys/${keyId}`)).body.agentIds.length;
  return {
    sent: { path: `${CORE}/agents`, body: { name: 'Mine' }, key },
    times,
    isConsistent: async () => (await times()) === (await granted()),
  };
};
const creatingUser = (role: string) => async (): Promise<Prepared> => {
  const body = { email: `${name('user')}@example.com`, name: 'Somebody', role };
  const found = async () =>
    (await items<{ id: string; email: string }>(`${CORE}/users?limit=100`)).filter(({ email }) => email === body.email);
  const isConsistent = async (): Promise<boolean> => {
    const [user] = await found();
    if (user === undefined) return isFree('/users', body);
    const spaceId = personalSpaceOf(user.id);
    const [space, agent] = await Promise.all([
      stores().decisions.load(spaceDecider, spaceId),
      stores().decisions.load(agentDecider, personalAgentOf(spaceId)),
    ]);
    return space.state.status === 'present' && agent.state.status === 'present';
  };
  return { sent: { path: `${CORE}/users`, body }, times: async () => (await found()).length, isConsistent };
};
/** What the admin register says of a user who stays where they are is proved in its own spec. */
const changingUser =
  (role: string, change: (path: string) => Sent, event: string, isSuspended = false) =>
  async (): Promise<Prepared> => {
    const userId = await made('/users', { email: `${name('user')}@example.com`, name: 'Somebody', role });
    if (isSuspended) await platform.call(`${CORE}/users/${userId}/suspend`, { method: 'POST' });
    const { state } = await stores().decisions.load(userDecider, userId);
    const claim = 'mailClaim' in state ? state.mailClaim.key : '';
    const isConsistent = async () =>
      event !== 'UserDeleted' || (await events(event, userId)) === 0 || (await events('NameReleased', claim)) === 1;
    return { sent: change(`${CORE}/users/${userId}`), times: () => events(event, userId), isConsistent };
  };
const movingUser = async (): Promise<Prepared> => {
  const [before, after] = [`${name('user')}@example.com`, `${name('user')}@example.com`];
  const userId = await made('/users', { email: before, name: 'Somebody', role: 'member' });
  const free = async (email: string) => isFree('/users', { email, name: 'Else', role: 'member' });
  const times = () => events('UserChanged', userId);
  return {
    sent: { method: 'PUT', path: `${CORE}/users/${userId}`, body: { email: after } },
    times,
    isConsistent: async () => free((await times()) === 1 ? before : after),
  };
};
const spaces = async (slug: string) =>
  (await items<{ id: string; slug: string }>(`${CORE}/spaces?limit=100`)).filter((space) => space.slug === slug);
const creatingSpace = async (): Promise<Prepared> => {
  const slug = name('space');
  const body = { name: slug, slug };
  return {
    sent: { path: `${CORE}/spaces`, body },
    times: async () => (await spaces(slug)).length,
    isConsistent: async () => (await spaces(slug)).length === 1 || isFree('/spaces', body),
  };
};
const changingSpace = async (): Promise<Prepared> => {
  const [before, after] = [name('space'), name('space')];
  const spaceId = await made('/spaces', { name: before, slug: before });
  const times = () => events('SpaceChanged', spaceId);
  const isConsistent = async () => {
    const unused = (await times()) === 1 ? before : after;
    return isFree('/spaces', { name: unused, slug: unused });
  };
  return {
    sent: { method: 'PUT', path: `${CORE}/spaces/${spaceId}`, body: { name: after, slug: after } },
    times,
    isConsistent,
  };
};
const deletingSpace = async (): Promise<Prepared> => {
  const slug = name('space');
  const spaceId = await made('/spaces', { name: slug, slug });
  const times = () => events('SpaceDeleted', spaceId);
  return {
    sent: { method: 'DELETE', path: `${CORE}/spaces/${spaceId}` },
    times,
    isConsistent: async () => (await times()) === 0 || isFree('/spaces', { name: slug, slug }),
  };
};
const addingDocument = async (): Promise<Prepared> => {
  const document = `${name('document')}.md`;
  const times = async () =>
    (await items(`${CORE}/knowledge/${agentId}/documents?limit=100`)).filter((one) => one.name === document).length;
  return {
    sent: {
      path: `${CORE}/knowledge/${agentId}/documents`,
      body: { name: document, content: '# A guide', mimeType: 'text/markdown' },
    },
    times,
    isConsistent: async () => true,
  };
};
const uploadingDocuments = async (): Promise<Prepared> => {
  const document = name('document');
  const part = (number: number): string =>
    `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="${document}-${number}.md"\r\ncontent-type: text/markdown\r\n\r\n# A guide\r\n`;
  const found = async () =>
    (await items(`${CORE}/knowledge/${agentId}/documents?limit=100`)).filter((one) =>
      one.name.startsWith(`${document}-`),
    ).length;
  const isConsistent = async (): Promise<boolean> => {
    await later(() => platform.platform.host.unfinished.finishAll());
    return [0, 2].includes(await found());
  };
  return {
    sent: { path: `${CORE}/knowledge/${agentId}/documents`, payload: `${part(1)}${part(2)}--${BOUNDARY}--\r\n` },
    times: async () => Math.ceil((await found()) / 2),
    isConsistent,
  };
};
const asking = async (): Promise<Prepared> => {
  const { key } = await platform.newCaller();
  const own = await made('/agents', { name: 'Guide', knowledgeEnabled: false }, key);
  const path = `${CORE}/llm/${own}/conversation`;
  const times = () => events('ConversationStarted', own);
  const isConsistent = async (): Promise<boolean> => {
    await later(() => platform.platform.host.unfinished.finishAll());
    const [conversation] = await items(path, key);
    if (conversation === undefined) return (await times()) === 0;
    const [last] = await items<{ role: string; status: string }>(`${path}/${conversation.id}/messages`, key);
    return last?.role === 'assistant' && last.status !== 'streaming';
  };
  return { sent: { path, body: { message: 'How do I start it?' }, key }, times, isConsistent };
};
const restating = async (): Promise<Prepared> => {
  const from = `2026-10-${String(1 + (names % 28)).padStart(2, '0')}T00:00:00.${String((names += 1)).padStart(3, '0')}Z`;
  const isConsistent = async (): Promise<boolean> => {
    await later(() => platform.platform.host.unfinished.finishAll());
    return (await items<{ from: string; closedAt: string | null }>(`${OPERATIONS}/usage/restatements?limit=100`)).every(
      (one) => one.from !== from || one.closedAt !== null,
    );
  };
  return {
    sent: {
      path: `${OPERATIONS}/usage/restatements`,
      body: { from, to: '2026-12-01T00:00:00.000Z', prices: 'current' },
    },
    times: () => events('RestatementBegun', from),
    isConsistent,
  };
};
const reloading = async (): Promise<Prepared> => {
  const displayName = name('models');
  catalogue(displayName);
  const recorded = async (key: string) => (await stores().decisions.load(modelDecider, key)).state?.displayName;
  const times = async () => ((await recorded('one')) === `${displayName} one` ? 1 : 0);
  const isConsistent = async () =>
    platform.platform.host.models.catalogue.models.get('one')?.displayName !== `${displayName} one` ||
    ((await times()) === 1 && (await recorded('two')) === `${displayName} two`);
  return { sent: { path: `${OPERATIONS}/models/reload` }, times, isConsistent };
};

const REQUESTS: readonly (readonly [title: string, appends: number, prepare: () => Promise<Prepared>])[] = [
  ['POST /agents', 2, creatingAgent],
  ['POST /users', 4, creatingUser('member')],
  ['POST /users of an admin', 5, creatingUser('admin')],
  ['PUT /users/{id} with another address', 3, movingUser],
  [
    'PUT /users/{id} of an admin who becomes a member',
    2,
    changingUser('admin', (path) => ({ method: 'PUT', path, body: { role: 'member' } }), 'UserRoleChanged'),
  ],
  [
    'PUT /users/{id} of a member who becomes an admin',
    2,
    changingUser('member', (path) => ({ method: 'PUT', path, body: { role: 'admin' } }), 'UserRoleChanged'),
  ],
  [
    'POST /users/{id}/suspend of an admin',
    2,
    changingUser('admin', (path) => ({ path: `${path}/suspend` }), 'UserSuspended'),
  ],
  [
    'POST /users/{id}/reactivate of an admin',
    2,
    changingUser('admin', (path) => ({ path: `${path}/reactivate` }), 'UserReactivated', true),
  ],
  ['DELETE /users/{id} of an admin', 3, changingUser('admin', (path) => ({ method: 'DELETE', path }), 'UserDeleted')],
  ['POST /spaces', 3, creatingSpace],
  ['PUT /spaces/{id} with another name and slug', 5, changingSpace],
  ['DELETE /spaces/{id}', 3, deletingSpace],
  ['POST /documents', 1, addingDocument],
  ['POST /documents of several files', 2, uploadingDocuments],
  ['POST /conversation', 2, asking],
  ['POST /usage/restatements', 3, restating],
  ['POST /models/reload', 3, reloading],
];

const sendOf =
  ({ method = 'POST', path, body, key = ADMIN_KEY, payload }: Sent, given: Readonly<Record<string, string>> = {}) =>
  (headers: Readonly<Record<string, string>>): Promise<Answer> =>
    platform.call(path, {
      method,
      key,
      ...(body === undefined ? {} : { body }),
      ...(payload === undefined ? {} : { payload }),
      headers: {
        ...headers,
        ...given,
        ...(payload === undefined ? {} : { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }),
      },
    });
const isDone = ({ status }: Answer): boolean => status >= 200 && status < 300;

describe.each(REQUESTS)('%s', (_, count, prepare) => {
  it('appends no more often than it is broken', async () => {
    const { sent, times, isConsistent } = await prepare();
    const { answer, appends } = await sendBroken(platform, sendOf(sent));
    expect([isDone(answer), answer.text]).toEqual([true, answer.text]);
    // Fewer where a policy was faster with what it would make too.
    expect(appends).toBeGreaterThan(0);
    expect(appends).toBeLessThanOrEqual(count);
    await until(async () => (await times()) === 1 && (await isConsistent()), 'all of it');
  });

  const faults = Array.from({ length: count }, (__, index) =>
    (['away', 'lost', 'raced'] as const).map((fault): readonly [Fault, number] => [fault, index + 1]),
  ).flat();

  it.each(faults)('that is %s at append %d leaves nothing behind, or is finished', async (fault, n) => {
    const { sent, times, isConsistent } = await prepare();
    const { answer } = await sendBroken(platform, sendOf(sent), n, fault);
    if (fault === 'raced') expect(answer.status).toBeLessThan(300);
    if (!isDone(answer)) {
      expect(answer).toMatchObject({ status: 503, body: { outcome: expect.stringMatching(/^(?:none|unknown)$/) } });
      // Then it may be sent as if for the first time.
      if (answer.body['outcome'] === 'none')
        expect([await times(), isDone(await sendOf(sent)({})), await times()]).toEqual([0, true, 1]);
    }
    await until(isConsistent, 'that all of it is there, or nothing', { patience: 20_000, every: 50 });
    expect(await times()).toBeLessThanOrEqual(1);
  });

  it.each(faults)(
    'that is %s at append %d is finished by a repeat under its key, and happens once',
    async (fault, n) => {
      const { sent, times, isConsistent } = await prepare();
      if (sent.payload !== undefined) return;
      const send = sendOf(sent, { 'idempotency-key': name('key') });
      const first = await sendBroken(platform, send, n, fault);
      let again = first.answer;
      // What is in the way for a moment, such as an answer that is being recorded, is asked for again, as clients do.
      await until(async () => isDone((again = await send({}))), 'the answer to a repeat', {
        patience: 20_000,
        every: 100,
      });
      expect(again.status).toBeLessThan(300);
      await until(async () => (await times()) === 1 && (await isConsistent()), 'all of it', {
        patience: 20_000,
        every: 50,
      });
      const replay = await send({});
      expect([replay.status, replay.body]).toEqual([again.status, again.body]);
      expect(await times()).toBe(1);
    },
  );
});
