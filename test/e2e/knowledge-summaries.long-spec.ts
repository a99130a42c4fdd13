import { Unavailable } from '@app/kernel';
import { EVER } from '../fixtures/ever';
import { bookOf, sectionOf } from '../fixtures/summariser-double';
import { until } from '../fixtures/until';
import { makeSummariesWorld, type SummariesWorld } from './summaries-world';

const CORE = '/api/v1/core';
let world: SummariesWorld;

beforeAll(async () => {
  world = await makeSummariesWorld();
});
afterAll(() => world.stop());

interface Summary {
  readonly id: string;
  readonly level: number;
  readonly text: string;
}
interface Hit {
  readonly documentId: string;
  readonly text: string;
  readonly summary?: Summary;
}

const call = <T>(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object, key?: string) =>
  world.platform.call<T>(CORE + path, {
    method,
    ...(body === undefined ? {} : { body }),
    ...(key === undefined ? {} : { key }),
  });
const search = async (agentId: string, query: string) =>
  (await call<{ items: Hit[] }>('POST', `/knowledge/${agentId}/search`, { query, topK: 20 })).body.items;
const summariesIn = (hits: readonly { readonly summary?: Summary }[]): Summary[] =>
  hits.flatMap(({ summary }) => (summary === undefined ? [] : [summary]));
/** Calls that were metered for an Agent, of a kind. */
const metered = async (agentId: string, kind: string) =>
  (
    await call<{ items: { kind: string; usage: { cost: string; totalTokens: number } }[] }>(
      'GET',
      `/usage/invocations?${EVER}&agentId=${agentId}&limit=100`,
    )
  ).body.items.filter((invocation) => invocation.kind === kind);

describe('a section-summary index', () => {
  it('is built in levels, from sections up to a root', async () => {
    const agentId = await world.newAgent();
    expect(await world.index(agentId)).toEqual({
      state: 'absent',
      estimate: { calls: 0, tokens: 0, cost: '0' },
      progress: { done: 0, total: 0 },
      levels: 0,
      summaries: 0,
      builtAt: null,
      failure: null,
    });
    for (const animal of ['fox', 'owl', 'bear']) await world.add(agentId, `${animal}.md`, bookOf(animal, 4));
    const { estimate } = await world.index(agentId);
    const before = world.model.summarised.length;
    const begun = await world.build(agentId);
    expect([begun.status, begun.body['state'], begun.body['estimate']]).toEqual([202, 'building', estimate]);
    await until(async () => (await world.index(agentId)).state === 'ready', 'the build');
    const built = await world.index(agentId);
    expect(built.levels).toBeGreaterThan(1);
    expect(built.progress).toEqual({ done: built.summaries, total: built.summaries });
    expect(built.summaries).toBe(world.model.summarised.length - before);
    expect(built.estimate).toEqual({ calls: 0, tokens: 0, cost: '0' });

    // What it took is near what was told, though sections are as long here as they can be: 8 chunks.
    await until(async () => (await metered(agentId, 'chat')).length === built.summaries, 'the records of the calls');
    const chats = await metered(agentId, 'chat');
    expect(chats.every(({ usage }) => usage.cost === '0.0006')).toBe(true);
    expect(built.summaries).toBeLessThanOrEqual(estimate.calls * 1.25);
    expect(built.summaries).toBeGreaterThanOrEqual(estimate.calls / 1.75);
    expect(Number(estimate.cost)).toBeGreaterThan(0);
  });

  it('is built from the sentences of documents by the local model', async () => {
    const agentId = await world.newAgent({ model: 'local-chat', includeAiSummary: true });
    await world.add(agentId, 'fox.md', bookOf('fox', 3));
    expect(await world.built(agentId)).toMatchObject({ state: 'ready', estimate: { cost: '0' } });
    const [summary] = summariesIn(await search(agentId, 'habits of the fox'));
    expect(summary?.text).toMatch(/^The fox of valley \d keeps its habit number \d+ near the river in every season\./);
  });

  it('is there where the answer of the log to its end was lost', async () => {
    const agentId = await world.newAgent({ model: 'local-chat', includeAiSummary: true });
    await world.add(agentId, 'fox.md', bookOf('fox', 3));
    const { log } = world.platform.platform.host.stores;
    const append = log.append.bind(log);
    let lost = 0;
    const losing = jest.spyOn(log, 'append').mockImplementation(async (stream, events, expected) => {
      const receipt = await append(stream, events, expected);
      if (!events.some(({ type }) => type === 'SummaryIndexBuilt')) return receipt;
      lost += 1;
      throw new Unavailable('log', 'its answer was lost', 'unknown');
    });
    expect((await world.built(agentId)).state).toBe('ready');
    losing.mockRestore();
    expect([lost, summariesIn(await search(agentId, 'habits of the fox')).length > 0]).toEqual([1, true]);
  });

  it('is built again for what changed alone, and anew on request', async () => {
    const agentId = await world.newAgent();
    const documentId = await world.add(agentId, 'fox.md', bookOf('fox', 12));
    await world.add(agentId, 'owl.md', bookOf('owl', 12));
    const calls = async (mode: 'build' | 'rebuild' = 'build'): Promise<number> => {
      const before = world.model.summarised.length;
      const { estimate } = await world.index(agentId);
      const { state, failure } = await world.built(agentId, mode);
      expect([state, failure]).toEqual(['ready', null]);
      const made = world.model.summarised.length - before;
      if (mode === 'build') expect(made).toBeLessThanOrEqual(estimate.calls * 1.25);
      return made;
    };
    const whole = await calls();
    expect(whole).toBeGreaterThan(15);
    expect(await calls()).toBe(0);
    await world.replace(agentId, documentId, `${bookOf('fox', 12)}\n\n${sectionOf('fox', 99)}`);
    const some = await calls();
    expect(some).toBeGreaterThan(0);
    expect(some).toBeLessThan(whole / 2);
    expect(await calls()).toBe(0);
    const anew = await calls('rebuild');
    expect(anew).toBe((await world.index(agentId)).summaries);
    // One section more may be clustered in one cluster less.
    expect(anew).toBeGreaterThan(15);
    expect(await calls()).toBe(0);
  });

  it('has one build at a time, and is as it was when that is cancelled', async () => {
    const agentId = await world.newAgent({ includeAiSummary: true });
    await world.add(agentId, 'fox.md', bookOf('fox', 4));
    world.model.hold = true;
    const asked = world.model.summarised.length;
    expect((await world.build(agentId)).status).toBe(202);
    await until(() => world.model.summarised.length > asked, 'the first call');
    const second = await world.build(agentId, 'rebuild');
    expect([second.status, second.body['code']]).toEqual([409, 'conflict']);
    expect(await world.index(agentId)).toMatchObject({ state: 'building', summaries: 0, builtAt: null });
    expect((await world.end(agentId)).status).toBe(204);
    expect(await world.index(agentId)).toMatchObject({ state: 'absent', summaries: 0 });
    expect((await world.end(agentId)).status).toBe(204);
    world.model.release();

    const built = await world.built(agentId);
    expect(built.state).toBe('ready');
    const shown = summariesIn(await search(agentId, 'habits of the fox'));
    expect(shown.length).toBeGreaterThan(0);
    world.model.hold = true;
    const again = world.model.summarised.length;
    await world.build(agentId, 'rebuild');
    await until(() => world.model.summarised.length > again, 'the call of the rebuild');
    expect(summariesIn(await search(agentId, 'habits of the fox'))).toEqual(shown);
    await world.end(agentId);
    world.model.release();
    expect(await world.index(agentId)).toMatchObject({
      state: 'ready',
      builtAt: built.builtAt,
      summaries: built.summaries,
    });
    expect(summariesIn(await search(agentId, 'habits of the fox'))).toEqual(shown);
  });

  it('fails at a usage limit, and goes on behind what was made', async () => {
    const agentId = await world.newAgent();
    await world.add(agentId, 'fox.md', bookOf('fox', 8));
    const limit = await call<{ id: string }>('POST', '/cost-control', {
      scope: { type: 'agent', id: agentId },
      amount: '0.0015',
      window: 'total',
    });
    const before = world.model.summarised.length;
    expect(await world.built(agentId)).toMatchObject({
      state: 'failed',
      summaries: 0,
      failure: { code: 'usage_limit_exceeded', message: expect.stringContaining('Build again') },
    });
    const made = world.model.summarised.length - before;
    expect(made).toBeGreaterThan(0);
    await call('PUT', `/cost-control/${limit.body.id}`, { amount: '1' });
    const built = await world.built(agentId);
    expect(built).toMatchObject({ state: 'ready', failure: null });
    expect(world.model.summarised.length - before).toBe(built.summaries);
  });

  it('is shown beside what is found and cited, for Agents that include it', async () => {
    const agentId = await world.newAgent({ includeAiSummary: true });
    const documentId = await world.add(agentId, 'fox.md', bookOf('fox', 4));
    expect(summariesIn(await search(agentId, 'habits of the fox'))).toEqual([]);
    await world.built(agentId);
    const hits = await search(agentId, 'habits of the fox');
    expect(hits.length).toBeGreaterThan(1);
    for (const { text, summary } of hits) {
      expect(summary).toEqual({ id: expect.any(String), level: 1, text: expect.stringContaining('This is about:') });
      expect(summary?.text).toContain(/The fox of valley \d+/.exec(text)?.[0]);
    }
    const ask = async () =>
      (
        await call<{ conversationId: string; message: { id: string; parts: (Hit & { type: string })[] } }>(
          'POST',
          `/llm/${agentId}/conversation`,
          { message: 'Which habits has the fox?' },
        )
      ).body;
    const { message, conversationId } = await ask();
    expect(message.parts.map(({ type }) => type)).toEqual(['text', 'source-document']);
    expect(summariesIn(message.parts)).toHaveLength(1);
    const streamed = await call<unknown>(
      'GET',
      `/llm/${agentId}/conversation/${conversationId}/stream?after=${message.id}.1.0`,
    );
    expect([streamed.status, streamed.text.includes('This is about:')]).toEqual([200, true]);
    const path = `/llm/${agentId}/conversation/${conversationId}/messages`;
    const shown = async () => {
      const { body } = await call<{ items: { parts: Hit[] }[] }>('GET', path);
      return summariesIn(body.items.flatMap(({ parts }) => parts));
    };
    expect(await shown()).toEqual(summariesIn(message.parts));

    // Not without the setting, nor while the document is not as it was when it was summarised.
    await call('PUT', `/agents/${agentId}`, { includeAiSummary: false });
    expect([await shown(), summariesIn(await search(agentId, 'habits of the fox'))]).toEqual([[], []]);
    await call('PUT', `/agents/${agentId}`, { includeAiSummary: true });
    expect(await shown()).toHaveLength(1);
    await world.replace(agentId, documentId, bookOf('fox', 3));
    expect([await shown(), summariesIn(await search(agentId, 'habits of the fox'))]).toEqual([[], []]);
    await world.built(agentId);
    expect(summariesIn(await search(agentId, 'habits of the fox')).length).toBeGreaterThan(0);
  });
});
