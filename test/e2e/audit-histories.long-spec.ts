import { moreHeld } from '../fixtures/held-memory';
import { longestTurn } from '../fixtures/longest-turn';
import { startTestPlatform, type TestPlatform } from './harness';

interface History {
  readonly items: readonly { readonly changes: readonly { readonly path: string; readonly before: unknown }[] }[];
  readonly nextCursor: string | null;
}

const VERSIONS = 300;
/** MiB. */
const MOST_HELD = 500;
/** Several pages of history: a page holds a mebibyte. */
const PAGED = 40;
const prompt = (version: number): string => `version ${version} `.padEnd(99_000, 'of a long prompt ');

let platform: TestPlatform;

beforeAll(async () => (platform = await startTestPlatform()), 60_000);
afterAll(() => platform.stop());

/** An Agent with so many versions of a long prompt. */
const newAgent = async (versions: number): Promise<string> => {
  const { body } = await platform.call<{ id: string }>('/api/v1/core/agents', {
    method: 'POST',
    body: { name: 'Long-lived', systemPrompt: prompt(0) },
  });
  for (let version = 1; version < versions; version += 1)
    await platform.call(`/api/v1/core/agents/${body.id}/prompt`, {
      method: 'PUT',
      body: { systemPrompt: prompt(version) },
    });
  return body.id;
};

const history = async (agentId: string, query = '') =>
  platform.call<History>(`/api/v1/audit/objects/agent/${agentId}/history${query}`);

it('many histories of many long versions at once hold up nobody and are held in no memory', async () => {
  const agentId = await newAgent(VERSIONS);
  const held = moreHeld(MOST_HELD);
  let most = 0;
  const sampling = setInterval(() => (most = Math.max(most, held())), 5);
  const longest = longestTurn();
  const answers = await Promise.all([...Array(8).keys()].map(() => history(agentId, '?limit=3')));
  const turn = longest();
  clearInterval(sampling);
  expect(answers.map(({ status, body }) => [status, body.items.length])).toEqual(answers.map(() => [200, 3]));
  expect(most).toBeLessThan(MOST_HELD);
  // Far longer than a turn takes.
  expect(turn).toBeLessThan(1_000);
});

it('a history is paged through to its beginning, each version once', async () => {
  const agentId = await newAgent(PAGED);
  const seen: unknown[] = [];
  let pages = 0;
  for (let query = ''; ;) {
    const { body } = await history(agentId, query);
    pages += 1;
    for (const { changes } of body.items)
      seen.push(changes.find(({ path }) => path.startsWith('systemPrompt'))?.before);
    if (body.nextCursor === null) break;
    query = `?cursor=${encodeURIComponent(body.nextCursor)}`;
  }
  expect(pages).toBeGreaterThan(2);
  expect(seen).toHaveLength(PAGED);
  expect(seen.slice(0, -1)).toEqual([...Array(PAGED - 1).keys()].toReversed().map(prompt));
});
