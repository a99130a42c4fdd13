import { EVENT_LOG, type EventLog } from '@app/event-log';
import type { RecordedEvent } from '@app/kernel';
import { Policies } from '@app/projecting';
import { ApplyReindex } from '../../libs/knowledge/src/policies/apply-reindex.policy';
import { until } from '../fixtures/until';
import { wholeLog } from '../fixtures/whole-log';
import { type KnowledgeWorld, startKnowledge } from './knowledge-world';

const OPERATIONS = '/api/v1/operations/reindex';
let world: KnowledgeWorld;
beforeAll(async () => (world = await startKnowledge()), 60_000);
afterAll(() => world.stop());
afterEach(() => (world.hold = async () => undefined));

const sentences = (topic: string, count: number): string =>
  Array.from({ length: count }, (_, index) => `Sentence number ${index} says a little about ${topic}.`).join(' ');
const cut = (agentId: string, maxTokens: number) =>
  world.send(`/agents/${agentId}`, { chunking: { maxTokens, overlapTokens: 0 } }, { method: 'PUT' });
const reindex = async (agentId: string, action = '') =>
  expect((await world.send(`/knowledge/${agentId}/reindex${action}`, {})).status).toBeLessThan(300);
const reaches = (agentId: string, state: string) =>
  until(
    async () => (await world.read<{ state: string }>(`/knowledge/${agentId}/reindex`)).body.state === state,
    `the state ${state}`,
  );
const document = async (agentId: string, id: string) =>
  (await world.read<{ status: string; chunkCount: number }>(`/knowledge/${agentId}/documents/${id}`)).body;
const events = async (id: string) =>
  (
    await wholeLog(world.platform.platform.app.get<EventLog>(EVENT_LOG), {
      filter: { streamPrefixes: [`document-${id}`] },
    })
  ).map(({ type }) => type);

/** An Agent of its own with a document that is due. */
const due = async (topic: string, count = 40): Promise<{ agentId: string; id: string }> => {
  const agentId = (await world.send<{ id: string }>('/agents', { spaceId: world.spaceId, name: 'Reader' })).body.id;
  const id = await world.add(sentences(topic, count), { agentId });
  await until(async () => (await document(agentId, id)).status === 'Ready');
  await cut(agentId, 50);
  return { agentId, id };
};

/** Holds the next calls of the embedding model: resolves once there is one. */
const holding = () => {
  const held: (() => void)[] = [];
  world.hold = () => new Promise((resolve) => void held.push(resolve));
  const letGo = (): void => {
    world.hold = async () => undefined;
    for (const go of held) go();
  };
  return { begun: () => until(() => held.length > 0, 'a call of the model'), letGo };
};

/** Has the policy meet what it does to documents late, from the first such event on. */
const delayed = (isFirst: (event: RecordedEvent) => boolean) => {
  const policy = world.platform.platform.app.get(ApplyReindex);
  const react = policy.react.bind(policy);
  const behind: (() => void)[] = [];
  let isHeld = true;
  let isOver = Promise.resolve();
  policy.react = async (event) => {
    if (isHeld && (behind.length > 0 || isFirst(event)))
      await new Promise<void>((resolve) => void behind.push(resolve));
    isOver = isOver.then(() => react(event));
    await isOver;
  };
  return {
    letGo: async (): Promise<void> => {
      isHeld = false;
      for (const go of behind) go();
      policy.react = react;
      const head = (await world.platform.platform.app.get<EventLog>(EVENT_LOG).head()) ?? '';
      const places = () => world.platform.platform.app.get(Policies).status();
      await until(
        async () => ((await places()).find(({ name }) => name === policy.name)?.position ?? '') >= head,
        'the policy to meet what happened',
      );
    },
  };
};

describe('a re-index', () => {
  it.each(['Agent', 'Space'])('ends with its %s, and stands in the way of no other', async (owner) => {
    const { agentId } = await due('moles');
    const spaceId = (await world.send<{ id: string }>('/spaces', { name: `Of the ${owner}` })).body.id;
    const ofSpace = (await world.send<{ id: string }>('/agents', { spaceId, name: 'Reader' })).body.id;
    const [path, at] = owner === 'Agent' ? [`/agents/${agentId}`, agentId] : [`/spaces/${spaceId}`, ofSpace];
    const scope = owner === 'Agent' ? 'agent' : 'space';
    expect((await world.send(`/knowledge/${at}/reindex`, { scope })).status).toBe(202);
    await reaches(at, 'ready');
    const start = () => world.platform.call(OPERATIONS, { method: 'POST' });
    expect((await start()).status).toBe(409);
    expect((await world.send(path, undefined, { method: 'DELETE' })).status).toBe(204);
    await until(async () => (await start()).status === 202, 'a re-index of the instance');
    expect((await world.platform.call(`${OPERATIONS}/cancel`, { method: 'POST' })).status).toBe(200);
  });

  it('that is cancelled while it makes passages leaves none of them', async () => {
    const { agentId, id } = await due('voles');
    const { begun, letGo } = holding();
    await reindex(agentId);
    await begun();
    await reindex(agentId, '/cancel');
    letGo();
    await until(async () => (await events(id)).includes('DocumentReindexed'), 'what was made');
    await until(async () => (await events(id)).at(-1) === 'DocumentReindexDiscarded', 'what was made to be dropped');
  });

  it('that is paused in the middle of a document ends with the call in hand, and goes on behind it', async () => {
    const { agentId, id } = await due('badgers', 400);
    const { begun, letGo } = holding();
    world.calls.length = 0;
    await reindex(agentId);
    await begun();
    await reindex(agentId, '/pause');
    letGo();
    await until(async () => (await events(id)).includes('DocumentReindexEmbedded'), 'the batch in hand');
    const before = world.calls.length;
    await reindex(agentId, '/resume');
    await reaches(agentId, 'ready');
    await reindex(agentId, '/swap');
    await until(async () => (await events(id)).includes('DocumentPassagesSwapped'), 'the new passages');
    expect(before).toBe(1);
    expect(world.calls.length).toBeGreaterThan(2);
    const texts = world.calls.flat();
    expect(new Set(texts).size).toBe(texts.length);
  });

  it('that is cancelled in the middle of a document leaves no batch of it', async () => {
    const { agentId, id } = await due('otters', 400);
    const { begun, letGo } = holding();
    world.calls.length = 0;
    await reindex(agentId);
    await begun();
    await reindex(agentId, '/cancel');
    letGo();
    await until(async () => (await events(id)).includes('DocumentReindexEmbedded'), 'the batch in hand');
    await until(async () => (await events(id)).at(-1) === 'DocumentReindexDiscarded', 'the batch to be dropped');
    expect(world.calls).toHaveLength(1);
  });

  it('drops neither batches that are embedded behind a new name, nor what it made before those', async () => {
    const { agentId, id } = await due('newts', 400);
    const rename = async (name: string, times: number) => {
      await world.send(`/knowledge/${agentId}/documents/${id}`, { name }, { method: 'PUT' });
      await until(
        async () => (await events(id)).filter((type) => type === 'DocumentRetitled').length === times,
        'the vectors behind the new name',
      );
    };
    await rename('Efts.md', 1);
    await reindex(agentId);
    await reaches(agentId, 'ready');
    await rename('Newts.md', 2);
    await reindex(agentId, '/swap');
    await until(async () => (await events(id)).includes('DocumentPassagesSwapped'), 'the new passages');
    const types = await events(id);
    expect(types.lastIndexOf('DocumentReindexEmbedded')).toBeGreaterThan(types.lastIndexOf('DocumentRenamed'));
    expect(types).not.toContain('DocumentReindexDiscarded');
  });

  it('keeps what it made where an earlier one is met late that was cancelled', async () => {
    const { agentId, id } = await due('stoats');
    const late = delayed(({ type }) => type === 'ReindexStarted');
    await reindex(agentId);
    await reindex(agentId, '/cancel');
    await reindex(agentId);
    await reaches(agentId, 'ready');
    await late.letGo();
    await reindex(agentId, '/swap');
    await until(async () => (await events(id)).includes('DocumentPassagesSwapped'), 'the new passages');
  });

  it('is swapped where what it made is met after the next was started and cancelled', async () => {
    const { agentId, id } = await due('ferrets');
    const late = delayed(({ type }) => type === 'DocumentReindexed');
    await reindex(agentId);
    await reaches(agentId, 'ready');
    await reindex(agentId, '/swap');
    await reindex(agentId);
    await reindex(agentId, '/cancel');
    await late.letGo();
    await until(async () => (await events(id)).includes('DocumentPassagesSwapped'), 'the new passages');
  });

  it('that is rolled back and cancelled while a document follows it is followed no further', async () => {
    const { agentId, id } = await due('shrews');
    const { chunkCount: before } = await document(agentId, id);
    await reindex(agentId);
    await reaches(agentId, 'ready');
    await world.send(`/knowledge/${agentId}/documents/${id}`, { name: 'Shrews.md' }, { method: 'PUT' });
    await until(async () => (await events(id)).includes('DocumentRetitled'), 'the vectors behind the new name');
    const { begun, letGo } = holding();
    await reindex(agentId, '/swap');
    await begun();
    await reindex(agentId, '/rollback');
    await reindex(agentId, '/cancel');
    await until(
      async () => (await events(id)).includes('DocumentReindexDiscarded'),
      'what was made first to be dropped',
    );
    letGo();
    const behind = async () => (await events(id)).slice((await events(id)).indexOf('DocumentReindexDiscarded') + 1);
    await until(async () => (await behind()).includes('DocumentReindexed'), 'what was made');
    await until(async () => (await behind()).includes('DocumentReindexDiscarded'), 'what was made to be dropped');
    expect([(await document(agentId, id)).chunkCount, await events(id)]).toEqual([
      before,
      expect.not.arrayContaining(['DocumentPassagesSwapped']),
    ]);
  });
});
