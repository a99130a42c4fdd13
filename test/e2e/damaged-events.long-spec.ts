import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Projecting } from '@app/projecting';
import { tamper, type TamperedRow } from '../fixtures/tampering';
import { until } from '../fixtures/until';
import { startTestPlatform, type TestPlatform } from './harness';
import { makeWorld, type World } from './world';

const CORE = '/api/v1/core';

/** Objects of a world, with the stream of each and where it is read. */
const objectsOf = ({ ids }: World): readonly (readonly [stream: string, path: string])[] => [
  [`agent-${ids['agentId']}`, `${CORE}/agents/${ids['agentId']}`],
  [`document-${ids['documentId']}`, `${CORE}/knowledge/${ids['agentId']}/documents/${ids['documentId']}`],
  [`conversation-${ids['conversationId']}`, `${CORE}/llm/${ids['agentId']}/conversation/${ids['conversationId']}`],
  [`memory-${ids['memoryId']}`, `${CORE}/memory/${ids['agentId']}/memories/${ids['memoryId']}`],
  [`skill-${ids['skillId']}`, `${CORE}/skills/${ids['skillId']}`],
  [`apiKey-${ids['keyId']}`, `${CORE}/api-keys/${ids['keyId']}`],
  [`space-${ids['spaceId']}`, `${CORE}/spaces/${ids['spaceId']}`],
  [`user-${ids['userId']}`, `${CORE}/users/${ids['userId']}`],
];

const DAMAGES: readonly (readonly [what: string, damage: Partial<TamperedRow>])[] = [
  ['data that are no JSON', { data: '{"name":' }],
  ['data of another form', { data: '{"colour":1}' }],
  ['data that are no object', { data: 'null' }],
  ['metadata that are no JSON', { metadata: '{"entity":' }],
  ['metadata that are no object', { metadata: '"entity":' }],
];

/** No damage: what a later version may have written. */
const LATER: readonly (readonly [what: string, change: (row: TamperedRow) => Partial<TamperedRow>])[] = [
  ['its schema', ({ metadata }) => ({ metadata: JSON.stringify({ ...JSON.parse(metadata), schema: 99 }) })],
  ['its type', ({ type }) => ({ type: `${type}Later` })],
];

let platform: TestPlatform;
let dataDir = '';
beforeAll(async () => {
  platform = await startTestPlatform();
  dataDir = platform.dataDir;
});
afterAll(async () => {
  await platform.stop({ keep: true });
  rmSync(dataDir, { recursive: true, force: true });
});

it('an event that is hidden is told to auditors where they ask for others', async () => {
  const { call } = platform;
  const late = async () => (await call('/api/v1/audit/events?type=SpaceCreated')).headers['x-view-late'];
  await until(async () => (await late()) === undefined, 'the audit trail');

  const gap = jest
    .spyOn(platform.platform.app.get(Projecting), 'gap')
    .mockResolvedValue({ reason: 'it has dead letters (1)', passes: false });

  expect(await late()).toBe('true');
  gap.mockRestore();
});

describe('an event that somebody damaged', () => {
  const worlds = new Map<string, World>();
  let whole: World;
  /** Starts on a log with a world of which the first events are damaged, for each damage, and one that is whole; on empty views. */
  beforeAll(async () => {
    const damages = new Map<string, (row: TamperedRow) => Partial<TamperedRow>>();
    for (const [what, damage] of [...DAMAGES.map(([named, given]) => [named, () => given] as const), ...LATER]) {
      const world = await makeWorld(platform);
      worlds.set(what, world);
      for (const [stream] of objectsOf(world)) damages.set(stream, damage);
    }
    whole = await makeWorld(platform);
    await platform.stop({ keep: true });
    tamper(dataDir, (rows) =>
      rows.map((row) => (row.revision === 0 ? { ...row, ...damages.get(row.stream)?.(row) } : row)),
    );
    for (const folder of ['views', 'search']) rmSync(join(dataDir, folder), { recursive: true });
    platform = await startTestPlatform({ dataDir });
    const wholeAgents = `${CORE}/agents?spaceId=${whole.ids['spaceId']}`;
    await until(
      async () => (await platform.call<{ items: unknown[] }>(wholeAgents)).body.items.length > 0,
      'the views',
    );
  });

  it.each(LATER)('is told apart from one that a later version wrote, by %s, with what to do', async (what) => {
    const later = objectsOf(worlds.get(what) as World);
    for (const [, path] of later) {
      const { status, body } = await platform.call<{ code: string; detail: string; errors: { path: string }[] }>(path);
      // Its own, or that of the Agent through which it is read.
      const place = body.errors[0]?.path ?? '';
      expect(later.map(([stream]) => `${stream}@0`)).toContain(place);
      expect([status, body.code, body.detail]).toEqual([
        500,
        'log_newer',
        `A later version of the platform wrote the event at ${place}. Ask the operator to start that version here, or a later one.`,
      ]);
    }
  });

  it.each(DAMAGES)('is told as damage of the log where it stands, and hides nothing else: %s', async (what) => {
    const { call } = platform;
    const damaged = worlds.get(what) as World;
    const told = new Map<string, unknown>();
    for (const [stream, path] of objectsOf(damaged)) {
      const { status, body } = await call<{ code: string }>(path);
      told.set(stream, [status, body.code]);
    }
    for (const [stream, path] of objectsOf(whole)) told.set(stream, (await call(path)).status);
    const { body: user } = await call<{ code: string; errors: unknown }>(`${CORE}/users/${damaged.ids['userId']}`, {
      method: 'PUT',
      body: { name: 'Ada' },
    });
    const place = `user-${damaged.ids['userId']}@0`;
    expect(user).toMatchObject({ code: 'log_damaged', errors: [{ path: place, code: 'log_damaged' }] });
    expect([...told]).toEqual([
      ...objectsOf(damaged).map(([stream]) => [stream, [500, 'log_damaged']]),
      ...objectsOf(whole).map(([stream]) => [stream, 200]),
    ]);
    for (const [stream] of [...objectsOf(whole), ...objectsOf(damaged)]) {
      const { headers, body } = await call<{ items: { revision: number }[] }>(`/api/v1/audit/events?stream=${stream}`);
      expect([stream, headers['x-view-late'], body.items.at(-1)?.revision]).toEqual([stream, undefined, 0]);
    }
  });
});
