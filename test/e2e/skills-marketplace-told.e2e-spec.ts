import { aggregates } from '@app/hosting';
import { systemClock } from '@app/kernel';
import { type Message, type Publisher, Relay } from '@app/relay';
import { MemoryLogger } from '../fixtures/counters';
import { until } from '../fixtures/until';
import { startTestPlatform } from './harness';
import {
  changed,
  forAgent,
  inSpace,
  install,
  items,
  list,
  listed,
  MARKET,
  newAgent,
  newSpace,
  call,
} from './market-world';
import { platform, withSpaces } from './spaces-world';

withSpaces();

const NAME = 'Quibblestone';
const TEXTS = new RegExp(`${NAME}|Trundle|Frobnicate`, 'iu');
const audited = async (path: string, key?: string) =>
  platform.call<Readonly<Record<string, unknown>>>(`/api/v1/audit/objects/${path}`, key === undefined ? {} : { key });

it('auditors see entries and installations as of any time, and texts with the permission for it', async () => {
  const auditor = (await platform.newCaller({ role: 'auditor', permissions: ['audit:read'] })).key;
  const { skillId, entryId } = await listed(NAME, 'Trundle along.');
  const first = (await call(`${MARKET}/${entryId}`)).body;
  await changed(skillId, 'Frobnicate it.');
  expect((await list(skillId)).status).toBe(201);
  expect((await call(`${MARKET}/${entryId}`, 'DELETE')).status).toBe(204);
  const now = (await call(`${MARKET}/${entryId}`)).body;
  expect(now).toMatchObject({ status: 'archived', name: NAME });
  const path = `skillEntry/${entryId}`;
  expect((await audited(path)).body).toEqual(now);
  expect((await audited(`${path}?revision=0`)).body).toEqual(first);
  expect((await audited(`${path}?revision=1`)).body).toMatchObject({ status: 'published', revision: 1 });
  expect((await audited(`${path}?at=2020-01-01T00:00:00Z`)).status).toBe(404);
  const history = await audited(`${path}/history`);
  expect((history.body['items'] as { type: string }[]).map(({ type }) => type)).toEqual([
    'SkillArchived',
    'SkillListed',
    'SkillListed',
  ]);
  expect(history.text).toMatch(TEXTS);
  for (const asked of [path, `${path}/history`, `${path}?revision=0`]) {
    const hidden = await audited(asked, auditor);
    expect(hidden.status).toBe(200);
    expect(hidden.text).not.toMatch(TEXTS);
  }

  expect((await call(`${MARKET}/${entryId}/restore`, 'POST')).status).toBe(200);
  const spaceId = await newSpace();
  const { body: installation } = await install(entryId, forAgent(await newAgent(spaceId)));
  const of = `skillInstallation/${installation.id}`;
  expect((await audited(of, auditor)).body).toEqual(installation);
  expect((await call(`${MARKET}/${entryId}/installations/${installation.id}`, 'DELETE')).status).toBe(204);
  expect((await audited(of)).status).toBe(404);
  expect((await audited(`${of}?revision=0`, auditor)).body).toEqual(installation);
  expect(((await audited(`${of}/history`)).body['items'] as object[]).length).toBe(2);
});

it('brokers are told of it by ids, and of no word of it', async () => {
  const { skillId, entryId } = await listed(`${NAME} again`, 'Trundle along.');
  const spaceId = await newSpace();
  const { body: installation } = await install(entryId, inSpace(spaceId));
  await changed(skillId, 'Frobnicate it.');
  await list(skillId);
  const [second, first] = await items(`/skills/${entryId}/versions`);
  await call(`${MARKET}/${entryId}`, 'DELETE');
  await call(`${MARKET}/${entryId}/restore`, 'POST');
  await call(`${MARKET}/${entryId}/installations/${installation.id}`, 'DELETE');

  const messages: Message[] = [];
  const publisher: Publisher = {
    publish: async (batch) => void messages.push(...batch),
    health: async () => ({ ok: true }),
    close: async () => undefined,
  };
  const { log } = platform.platform.host.stores;
  const logger = new MemoryLogger();
  const relay = new Relay({
    log,
    aggregates,
    publisher,
    clock: systemClock,
    logger,
    source: 'urn:test',
    topicPrefix: '',
  });
  const run = await relay.start(() => undefined);
  const told = (stream: string) =>
    messages
      .filter(({ key }) => key === stream)
      .map(({ topic, value }) => {
        const { type, data } = JSON.parse(value) as { type: string; data: object };
        return [topic, type.replace('agent-platform.', ''), data];
      });
  await until(() => told(`skillInstallation-${installation.id}`).length === 2, 'the last message');
  await run.stop();
  const place = { installationId: installation.id, skillId: entryId, spaceId, agentId: null };
  expect(told(`skillInstallation-${installation.id}`)).toEqual([
    ['skills', 'skill.installed.v1', { ...place, scope: 'space', versionId: null }],
    ['skills', 'skill.uninstalled.v1', place],
  ]);
  expect(told(`skillEntry-${entryId}`)).toEqual([
    ['skills', 'skill.published.v1', { skillId: entryId, versionId: first?.id, number: 1 }],
    ['skills', 'skill.published.v1', { skillId: entryId, versionId: second?.id, number: 2 }],
    ['skills', 'skill.archived.v1', { skillId: entryId }],
  ]);
  expect(JSON.stringify(messages)).not.toMatch(TEXTS);
});

it('those list, archive and restore whose role is in MARKETPLACE_ROLES, and who may edit the Skill', async () => {
  const open = await startTestPlatform({ environment: { MARKETPLACE_ROLES: 'member' } });
  try {
    const [member, other] = [await open.newCaller(), await open.newCaller()];
    const post = (path: string, body: object, key?: string) =>
      open.call<{ id: string; code?: string }>(`/api/v1/core${path}`, {
        method: 'POST',
        body,
        ...(key === undefined ? {} : { key }),
      });
    const spaceId = (await post('/spaces', { name: 'Open' }, member.key)).body.id;
    const skill = { scope: 'space', spaceId, name: 'Open', description: 'D', instructions: 'I', publish: true };
    const skillId = (await post('/skills', skill, member.key)).body.id;
    const members = `/api/v1/core/spaces/${spaceId}/members`;
    const setRole = (userId: string) =>
      open.call(`${members}/${userId}`, { method: 'PUT', key: member.key, body: { role: 'viewer' } });
    expect((await post(MARKET, { skillId }, other.key)).status).toBe(404);
    await setRole(other.userId);
    expect((await post(MARKET, { skillId }, other.key)).body).toMatchObject({ status: 403, code: 'forbidden' });
    const entry = await post(MARKET, { skillId }, member.key);
    expect(entry.status).toBe(201);
    const path = `/api/v1/core${MARKET}/${entry.body.id}`;
    // An admin without the role, who may not see the Skill either.
    expect((await open.call(path, { method: 'DELETE' })).body).toMatchObject({ status: 403, code: 'forbidden' });
    expect((await open.call(path, { method: 'DELETE', key: member.key })).status).toBe(204);
    expect((await open.call(`${path}/restore`, { method: 'POST' })).status).toBe(403);
    expect((await open.call(`${path}/restore`, { method: 'POST', key: member.key })).status).toBe(200);
  } finally {
    await open.stop();
  }
});
