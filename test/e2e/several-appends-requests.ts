import { agentDecider, personalAgentOf } from '@app/agents';
import { userDecider } from '@app/identity';
import { modelDecider } from '@app/models';
import { personalSpaceOf, spaceDecider } from '@app/spaces';
import { KNOWLEDGE_REQUESTS } from './several-appends-knowledge';
import { SKILL_REQUESTS } from './several-appends-skills';
import { MEMORY_REQUESTS } from './several-appends-memory';
import {
  catalogue,
  CORE,
  events,
  isFree,
  items,
  later,
  made,
  name,
  nextNumber,
  OPERATIONS,
  platform,
  type Prepared,
  type Sent,
  stores,
} from './several-appends-world';

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
const regenerating = async (): Promise<Prepared> => {
  const { key } = await platform.newCaller();
  const own = await made('/agents', { name: 'Guide', knowledgeEnabled: false }, key);
  const path = `${CORE}/llm/${own}/conversation`;
  const first = await platform.call<{ conversationId: string; message: { id: string } }>(path, {
    method: 'POST',
    key,
    body: { message: 'How do I start it?' },
  });
  const { conversationId, message } = first.body;
  const times = () => events('AnswerRequested', conversationId);
  const isConsistent = async (): Promise<boolean> => {
    await later(() => platform.platform.host.unfinished.finishAll());
    const all = await items<{ role: string; status: string }>(`${path}/${conversationId}/messages`, key);
    return all.filter(({ role }) => role === 'assistant').length === 1 + (await times());
  };
  const regenerate = `${path}/${conversationId}/messages/${message.id}/regenerate`;
  return { sent: { path: regenerate, body: {}, key }, times, isConsistent };
};
const restating = async (): Promise<Prepared> => {
  const number = nextNumber();
  const from = `2026-10-${String(1 + (number % 28)).padStart(2, '0')}T00:00:00.${String(number % 1000).padStart(3, '0')}Z`;
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

/** The requests that append more than once, by their routes; each is broken at each of so many appends. */
export const REQUESTS: readonly (readonly [
  route: string,
  title: string,
  appends: number,
  prepare: () => Promise<Prepared>,
])[] = [
  [`POST ${CORE}/agents`, 'POST /agents', 2, creatingAgent],
  [`POST ${CORE}/users`, 'POST /users', 4, creatingUser('member')],
  [`POST ${CORE}/users`, 'POST /users of an admin', 5, creatingUser('admin')],
  [`PUT ${CORE}/users/:userId`, 'PUT /users/{id} with another address', 3, movingUser],
  [
    `PUT ${CORE}/users/:userId`,
    'PUT /users/{id} of an admin who becomes a member',
    2,
    changingUser('admin', (path) => ({ method: 'PUT', path, body: { role: 'member' } }), 'UserRoleChanged'),
  ],
  [
    `PUT ${CORE}/users/:userId`,
    'PUT /users/{id} of a member who becomes an admin',
    2,
    changingUser('member', (path) => ({ method: 'PUT', path, body: { role: 'admin' } }), 'UserRoleChanged'),
  ],
  [
    `POST ${CORE}/users/:userId/suspend`,
    'POST /users/{id}/suspend of an admin',
    2,
    changingUser('admin', (path) => ({ path: `${path}/suspend` }), 'UserSuspended'),
  ],
  [
    `POST ${CORE}/users/:userId/reactivate`,
    'POST /users/{id}/reactivate of an admin',
    2,
    changingUser('admin', (path) => ({ path: `${path}/reactivate` }), 'UserReactivated', true),
  ],
  [
    `DELETE ${CORE}/users/:userId`,
    'DELETE /users/{id} of an admin',
    3,
    changingUser('admin', (path) => ({ method: 'DELETE', path }), 'UserDeleted'),
  ],
  [`POST ${CORE}/spaces`, 'POST /spaces', 3, creatingSpace],
  [`PUT ${CORE}/spaces/:spaceId`, 'PUT /spaces/{id} with another name and slug', 5, changingSpace],
  [`DELETE ${CORE}/spaces/:spaceId`, 'DELETE /spaces/{id}', 3, deletingSpace],
  ...KNOWLEDGE_REQUESTS,
  ...SKILL_REQUESTS,
  ...MEMORY_REQUESTS,
  [`POST ${CORE}/llm/:agentId/conversation`, 'POST /conversation', 2, asking],
  [
    `POST ${CORE}/llm/:agentId/conversation/:conversationId/messages/:messageId/regenerate`,
    'POST /regenerate',
    2,
    regenerating,
  ],
  [`POST ${OPERATIONS}/usage/restatements`, 'POST /usage/restatements', 3, restating],
  [`POST ${OPERATIONS}/models/reload`, 'POST /models/reload', 3, reloading],
];
