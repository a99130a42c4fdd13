import { until } from '../fixtures/until';
import { embeddingModel, type KnowledgeWorld, startKnowledge } from './knowledge-world';

const OPERATIONS = '/api/v1/operations/reindex';
let world: KnowledgeWorld;
let ids: readonly string[];
beforeAll(async () => {
  world = await startKnowledge();
  ids = [
    await world.add('The zebra sleeps standing up.'),
    await world.add('The okapi eats leaves.', { scope: 'space' }),
    await world.add('The lynx hunts alone.', { scope: 'global' }),
  ];
  await Promise.all(ids.map((id) => world.ready(id)));
});
afterAll(() => world.stop());

interface Reindex {
  readonly state: string;
  readonly progress: { readonly done: number; readonly total: number };
}
const operate = (action = '', body?: object, key?: string) =>
  world.platform.call<Reindex>(OPERATIONS + action, {
    method: 'POST',
    ...(body === undefined ? {} : { body }),
    ...(key === undefined ? {} : { key }),
  });
/** What `/health` says of it; undefined where there is nothing to say. */
const told = async () =>
  (await world.platform.call<{ reindex?: { due: boolean; jobs: { ready: number }; open: object[] } }>('/health')).body
    .reindex;
const shown = async () => (await world.platform.call<Reindex>(OPERATIONS)).body;
const search = async (query: string, mode = 'vector') => {
  world.models.length = 0;
  const { status, body } = await world.send<{ items: { documentId: string }[]; degraded?: string[] }>(
    `/knowledge/${world.agentId}/search`,
    { query, mode },
  );
  const found = [...new Set(body.items?.map(({ documentId }) => documentId))].toSorted();
  return { status, found, degraded: body.degraded, models: world.models.toSorted() };
};
const all = () => [...ids].toSorted();
const both = { models: [embeddingModel('lengths'), embeddingModel('other')] };

describe('a change of the embedding model', () => {
  it('is due to a re-index, and until then the vectors of before are searched', async () => {
    expect([(await shown()).progress.total, await told()]).toEqual([0, undefined]);
    await world.restart({ embeddingModel: 'other', ...both });
    expect(await shown()).toMatchObject({ state: 'none', progress: { done: 0, total: 3 } });
    expect(await told()).toEqual({ due: true, jobs: { running: 0, paused: 0, ready: 0, failed: 0 }, open: [] });
    expect((await world.platform.call('/metrics')).text).toContain('reindex_due 1');
    await until(async () => (await search('Who sleeps?')).found.length === 3);
    expect(await search('Who sleeps?')).toMatchObject({ status: 200, models: ['lengths', 'other'] });
    const added = await world.add('The heron waits.');
    await world.ready(added);
    ids = [...ids, added];
    await until(async () => (await search('Who waits?')).found.length === 4);
    expect((await search('Who waits?')).models).toEqual(['lengths', 'other']);
  });

  it('is carried out beside what is searched, swapped and rolled back', async () => {
    expect((await operate('', { dryRun: true })).status).toBe(200);
    expect((await operate()).status).toBe(202);
    const beside = await world.send(`/knowledge/${world.agentId}/reindex`, {});
    expect(beside.status).toBe(409);
    await until(async () => {
      expect((await search('Who sleeps?')).found).toEqual(all());
      return (await shown()).state === 'ready';
    });
    await until(async () => (await told())?.jobs.ready === 1);
    const progress = { done: 3, total: 3 };
    expect((await told())?.open).toMatchObject([{ scope: 'instance', id: null, state: 'ready', progress }]);
    expect((await operate('/swap')).body.state).toBe('swapped');
    await until(async () => {
      const { found, models } = await search('Who sleeps?');
      expect(found).toEqual(all());
      return models.join() === 'other';
    });
    expect((await operate('', { dryRun: true })).body.progress.total).toBe(0);
    expect((await operate('/rollback')).body.state).toBe('ready');
    await until(async () => (await search('Who sleeps?')).models.join() === 'lengths,other');
    expect((await search('Who sleeps?')).found).toEqual(all());
  });

  it('leaves words alone to what was embedded by a model that is gone, and says so', async () => {
    await world.restart({ embeddingModel: 'other', models: [embeddingModel('other')] });
    await until(async () => (await search('zebra', 'hybrid')).found.length > 0);
    const { status, found, degraded } = await search('Where does the zebra sleep?', 'hybrid');
    expect([status, degraded]).toEqual([200, ['vector']]);
    expect(found).toContain(ids[0]);
    await operate('/swap');
    await until(async () => (await search('zebra', 'hybrid')).degraded === undefined);
    expect((await search('Who sleeps?')).found).toEqual(all());
  });

  it('is for operators', async () => {
    const { key } = await world.platform.newCaller();
    expect((await operate('', {}, key)).status).toBe(403);
    expect((await operate('/swap', undefined, key)).status).toBe(403);
  });
});
