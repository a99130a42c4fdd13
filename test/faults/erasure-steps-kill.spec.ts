import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sealKeyOf } from '@app/sealing';
import { type Child, startChild } from '../e2e/child';
import { ADMIN_KEY } from '../e2e/harness';
import { wordsUnder } from '../fixtures/files-under';
import { ownTime } from '../fixtures/own-time';
import { verifyFolder } from '../fixtures/sealed-log';
import { until } from '../fixtures/until';
import { rounds as few } from './log/rounds';

/** kill -9 before and behind each step of erasing one of everything. */

const WORDS = {
  space: 'Quillbranth',
  agent: 'Draskopheim',
  user: 'Mirkwellian',
  document: 'Zanthoquill',
  skill: 'Vexolumir',
  conversation: 'Kelvorindane',
} as const;
const CORE = '/api/v1/core';

const dataDir = mkdtempSync(join(tmpdir(), 'erasure-steps-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const start = (dieAt: string): Promise<Child> =>
  startChild('test/faults/processes/dying-eraser-child.ts', { DATA_DIR: dataDir, DIE_AT: dieAt });

const send = async (child: Child, method: string, path: string, body?: object, key?: string) => {
  const response = await fetch(`${child.url}${path}`, {
    method,
    headers: {
      'x-api-key': ADMIN_KEY,
      ...(key === undefined ? {} : { 'idempotency-key': key }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
};

/** What makes one of everything, and in which order it is deleted. */
const requestsOf = (round: number, ids: Readonly<Record<string, string>>) =>
  [
    ['space', '/spaces', { name: `${WORDS.space} ${round}` }],
    ['guide', '/agents', { name: 'Guide', knowledgeEnabled: true }],
    ['agent', '/agents', { spaceId: ids['space'], name: `${WORDS.agent} ${round}` }],
    ['user', '/users', { email: `user${round}@example.com`, name: WORDS.user, role: 'member' }],
    [
      'document',
      `/knowledge/${ids['guide']}/documents`,
      { name: 'a.md', content: `The ferry to ${WORDS.document}.`, mimeType: 'text/markdown' },
    ],
    [
      'skill',
      '/skills',
      {
        scope: 'agent',
        agentId: ids['guide'],
        name: `skill-${round}`,
        description: 'Starts it.',
        instructions: `Say ${WORDS.skill}.`,
      },
    ],
    ['conversation', `/llm/${ids['guide']}/conversation`, { message: `What of ${WORDS.conversation}?` }],
  ] as const;

const make = async (child: Child, round: number): Promise<Record<string, string>> => {
  const ids: Record<string, string> = {};
  for (let next = 0; next < requestsOf(round, ids).length; next += 1) {
    const [name, path, body] = requestsOf(round, ids)[next] ?? (['', '', {}] as const);
    const { status, text } = await send(child, 'POST', `${CORE}${path}`, body, `${name}-${round}`);
    if (status >= 300) throw new Error(`${path}: ${text}`);
    const made = JSON.parse(text) as { id: string; conversationId?: string };
    ids[name] = made.conversationId ?? made.id;
  }
  return ids;
};

const pathsOf = (ids: Readonly<Record<string, string>>): readonly string[] => [
  `${CORE}/llm/${ids['guide']}/conversation/${ids['conversation']}`,
  `${CORE}/knowledge/${ids['guide']}/documents/${ids['document']}`,
  `${CORE}/skills/${ids['skill']}`,
  `${CORE}/users/${ids['user']}`,
  `${CORE}/agents/${ids['agent']}`,
  `${CORE}/spaces/${ids['space']}`,
];

let rounds = 0;
/** In a long run (`ROUNDS=9`) all of them; first those behind which most is left to do. */
const STEPS = [
  'behind destroy',
  'behind purge-views',
  'before receipt',
  'behind receipt',
  'before destroy',
  'before remove',
  'behind remove',
  'before purge-views',
  'behind purge-search',
];

it.each(STEPS.slice(0, few(4)))(
  'what was deleted is gone for good after a kill %s, with one receipt each',
  async (step) => {
    const round = (rounds += 1);
    let child = await start(step);
    const ids = await make(child, round);
    const document = pathsOf(ids)[1] ?? '';
    await until(async () => (await send(child, 'GET', document)).text.includes('"Ready"'), 'the document');
    child.kill('SIGUSR2');
    await until(() => child.output().includes('armed'), 'the mark');
    const deleted: string[] = [];
    for (const path of pathsOf(ids)) {
      const outcome = await send(child, 'DELETE', path).then(
        ({ status }) => status,
        () => 0,
      );
      if (outcome >= 200 && outcome < 300) deleted.push(path);
    }
    await child.exited;

    child = await start('');
    const took = ownTime();
    // A client that was not answered asks again.
    for (const path of pathsOf(ids))
      if (!deleted.includes(path)) expect([200, 204, 404]).toContain((await send(child, 'DELETE', path)).status);
    const streams = Object.keys(WORDS).map((name) => `${name}-${ids[name]}`);
    const receipts = async (): Promise<readonly string[]> => {
      const { text } = await send(child, 'GET', '/api/v1/audit/events?type=ContentErased&limit=100');
      const { items } = JSON.parse(text) as { items: { data: { stream: string } }[] };
      return items.map(({ data }) => data.stream).filter((stream) => streams.includes(stream));
    };
    await until(async () => new Set(await receipts()).size === streams.length, 'the receipts');
    expect(took()).toBeLessThan(10_000);
    expect((await receipts()).toSorted()).toEqual(streams.toSorted());
    expect(wordsUnder(dataDir, Object.values(WORDS))).toEqual([]);

    for (const [name, path, body] of requestsOf(round, ids)) {
      const { text } = await send(child, 'POST', `${CORE}${path}`, body, `${name}-${round}`);
      // An answer that is made from the request says nothing of what was kept.
      if (name !== 'guide')
        expect([name, text.includes(`"id":"${ids[name]}"`) && text.includes(WORDS[name])]).toEqual([name, false]);
    }
    expect(await Promise.all(pathsOf(ids).map(async (path) => (await send(child, 'GET', path)).status))).toEqual(
      pathsOf(ids).map(() => 404),
    );
    await child.stop();
    expect(wordsUnder(dataDir, Object.values(WORDS))).toEqual([]);
    for (const folder of ['views', 'search']) rmSync(join(dataDir, folder), { recursive: true });
    child = await start('');
    await until(async () => (await send(child, 'GET', '/health')).text.includes('"status":"up"'), 'the views');
    expect(await Promise.all(pathsOf(ids).map(async (path) => (await send(child, 'GET', path)).status))).toEqual(
      pathsOf(ids).map(() => 404),
    );
    expect((await receipts()).toSorted()).toEqual(streams.toSorted());
    await child.stop();
    expect(wordsUnder(dataDir, Object.values(WORDS))).toEqual([]);
    const { publicKey } = sealKeyOf(readFileSync(join(dataDir, 'keys', 'SEAL_KEY'), 'utf8').trim());
    expect((await verifyFolder(dataDir, { publicKeys: [publicKey] })).findings).toEqual([]);
  },
  180_000,
);
