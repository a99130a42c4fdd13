import type { ShownIndex } from '../e2e/summaries-world';
import type { Child } from '../e2e/child';
import { bookOf, startSummariser, type SummariserDouble } from '../fixtures/summariser-double';
import { type Cluster, eventually, missingForCluster, startCluster } from './cluster';
import { CORE, type List, watching } from './watching';

/** Re-indexes and section summaries where processes share servers: what one began another finishes, changes and ends. `test/faults` kills them on one machine. */

const LONG = 600_000;
/** Texts in one call of the embedding model: what a killed worker has embedded for nothing. */
const BATCH = 16;
const QUERY = 'habit of the fox and the owl';
const ANIMALS = ['fox', 'owl', 'bear'];
/** More than one document of the re-index has. */
const HELD_AFTER = 8 * BATCH;

interface Document {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly chunkCount: number;
}
interface Job {
  readonly state: string;
  readonly progress: { readonly done: number; readonly total: number };
}
interface Hit {
  readonly documentId: string;
  readonly chunkIds: readonly string[];
  readonly summary?: { readonly id: string };
}

const specs = (): void => {
  let model: SummariserDouble;
  let cluster: Cluster;
  beforeEach(async () => {
    model = await startSummariser();
    cluster = await startCluster(undefined, { MODELS_FILE: model.modelsFile });
  }, LONG);
  afterEach(async () => {
    await cluster.destroy();
    await model.stop();
  }, LONG);

  const { post } = watching(() => cluster);
  const all = () => cluster.start('api', 'projector', 'worker');

  /** An Agent with a book about each animal that is Ready. */
  const prepared = async (child: Child, animals: readonly string[], sections: number): Promise<string> => {
    const agent = { name: 'Guide', model: 'summariser', knowledgeEnabled: true, includeAiSummary: true };
    const { id } = (await post(child, `${CORE}/agents`, agent)).body;
    for (const animal of animals)
      await post(child, `${CORE}/knowledge/${id}/documents`, {
        name: `${animal}.md`,
        content: bookOf(animal, sections),
        mimeType: 'text/markdown',
      });
    await eventually(async () => {
      const found = await documents(child, id);
      return found.length === animals.length && found.every(({ status }) => status === 'Ready');
    }, 'the documents');
    return id;
  };
  const documents = async (child: Child, agentId: string): Promise<readonly Document[]> =>
    (await cluster.call<List<Document>>(child, `${CORE}/knowledge/${agentId}/documents`)).body.items;
  const chunks = async (child: Child, agentId: string): Promise<number> =>
    (await documents(child, agentId)).reduce((sum, { chunkCount }) => sum + chunkCount, 0);
  const search = async (child: Child, agentId: string, query = QUERY): Promise<readonly Hit[]> => {
    const { status, body } = await post<List<Hit>>(child, `${CORE}/knowledge/${agentId}/search`, {
      query,
      topK: 100,
    });
    expect(status).toBe(200);
    return body.items;
  };
  const reindex = async (child: Child, agentId: string, action = '') =>
    post<Job>(child, `${CORE}/knowledge/${agentId}/reindex${action}`, {});
  const job = async (child: Child, agentId: string): Promise<Job> =>
    (await cluster.call<Job>(child, `${CORE}/knowledge/${agentId}/reindex`)).body;

  it(
    'a re-index that one process began is finished by another, and swapped and rolled back while both serve',
    async () => {
      const first = await all();
      const agentId = await prepared(first, ANIMALS, 5);
      const before = await chunks(first, agentId);
      await cluster.call(first, `${CORE}/agents/${agentId}`, {
        method: 'PUT',
        body: { chunking: { maxTokens: 60, overlapTokens: 0 } },
      });
      model.embedded.length = 0;
      // Its second document is under way; the call that it waits for is never answered.
      model.holdEmbeddingsAfter = HELD_AFTER;
      expect((await reindex(first, agentId)).body.state).toBe('running');
      const second = await all();
      await eventually(async () => model.embedded.length > HELD_AFTER, 'a call that is not answered');
      const begun = await job(second, agentId);
      expect([begun.state, begun.progress.total]).toEqual(['running', 3]);
      expect((await reindex(second, agentId)).status).toBe(409);
      await cluster.kill(first);
      model.release();

      await eventually(async () => (await job(second, agentId)).state === 'ready', 'the end of the re-index');
      expect(await chunks(second, agentId)).toBe(before);
      // What is edited behind it follows each swap all the same.
      const counted = new Map((await documents(second, agentId)).map(({ id, chunkCount }) => [id, chunkCount]));
      const [edited = ''] = counted.keys();
      const path = `${CORE}/knowledge/${agentId}/documents/${edited}/chunks`;
      const [chunk] = (await cluster.call<List<{ id: string }>>(second, path)).body.items;
      const edit = { method: 'PUT', body: { text: 'The quokka smiles.' } };
      expect((await cluster.call(second, `${path}/${chunk?.id}`, edit)).status).toBe(200);
      const allFollowed = async (child: Child, isNew: boolean): Promise<boolean> =>
        (await documents(child, agentId)).every(({ id, chunkCount }) => chunkCount > (counted.get(id) ?? 0) === isNew);

      // Both serve, whoever swaps: each search finds every document, and each of them whole.
      const third = await all();
      const served: [Child, Child] = [second, third];
      const byAnimal = new Map((await documents(second, agentId)).map(({ id, name }) => [name.replace('.md', ''), id]));
      const missed: string[] = [];
      let isOver = false;
      const searching = served.map(async (child) => {
        let searches = 0;
        while (!isOver) {
          const animal = ANIMALS[searches % ANIMALS.length] ?? '';
          const hits = await search(child, agentId, `habit of the ${animal}`);
          searches += 1;
          if (!hits.some(({ documentId }) => documentId === byAnimal.get(animal))) missed.push(animal);
        }
        return searches;
      });
      let [one, other] = served;
      let after = 0;
      for (let round = 0; round < 4; round += 1) {
        const isBack = round % 2 === 1;
        expect((await reindex(one, agentId, isBack ? '/rollback' : '/swap')).status).toBe(200);
        await eventually(
          async () => (await allFollowed(other, !isBack)) && (await chunks(one, agentId)) !== after,
          `round ${round}`,
        );
        after = await chunks(other, agentId);
        [one, other] = [other, one];
      }
      expect((await reindex(one, agentId, '/swap')).status).toBe(200);
      await eventually(() => allFollowed(other, true), 'the last swap');
      isOver = true;
      expect((await Promise.all(searching)).every((searches) => searches > 0)).toBe(true);
      expect(missed).toEqual([]);
      const made = await chunks(other, agentId);
      const searches = model.embedded.filter((text) => text.startsWith('habit of the ')).length;
      // The edit itself, and the two passages of before that its chunk would have been cut into: it stays one.
      expect(model.embedded.length - searches).toBeLessThanOrEqual(made - 1 + 2 + BATCH + 1);
    },
    LONG,
  );

  const index = async (child: Child, agentId: string): Promise<ShownIndex> =>
    (await cluster.call<ShownIndex>(child, `${CORE}/knowledge/${agentId}/summary-index`)).body;
  const build = (child: Child, agentId: string, mode = 'build') =>
    post(child, `${CORE}/knowledge/${agentId}/summary-index`, { mode });

  it(
    'summaries are built once, ended from any process, and gone on with after the death of their builder',
    async () => {
      const first = await all();
      const agentId = await prepared(first, ['fox', 'owl'], 6);
      const second = await cluster.start('api');

      // One build, whoever asks for a second. It ends with the call that it waits for, which the other process cannot reach.
      model.hold = true;
      const begun = await Promise.all([build(first, agentId), build(second, agentId, 'rebuild')]);
      expect(begun.map(({ status }) => status).toSorted()).toEqual([202, 409]);
      await eventually(async () => model.summarised.length === 1, 'the first call');
      expect((await build(second, agentId)).status).toBe(409);
      expect(await index(second, agentId)).toMatchObject({ state: 'building', summaries: 0 });
      expect(
        (await cluster.call(second, `${CORE}/knowledge/${agentId}/summary-index`, { method: 'DELETE' })).status,
      ).toBe(204);
      expect(await index(first, agentId)).toMatchObject({ state: 'absent', summaries: 0 });
      await eventually(async () => model.left === 1, 'the end of the call');
      model.release();
      expect(model.summarised).toHaveLength(1);

      // Its builder dies in a call, which is made again, and no other.
      model.summarised.length = 0;
      expect((await build(second, agentId)).status).toBe(202);
      await eventually(async () => model.summarised.length > 3, 'some calls');
      model.hold = true;
      const asked = model.summarised.length;
      await eventually(async () => model.summarised.length > asked, 'a call that is not answered');
      await cluster.kill(first);
      model.release();
      const third = await all();
      await eventually(async () => (await index(second, agentId)).state === 'ready', 'the build');
      const made = new Set(model.summarised).size;
      expect(model.summarised.length).toBeLessThanOrEqual(made + 1);
      // The dead process had parts of the views, too: none is missing even before others take them over.
      expect((await index(second, agentId)).summaries).toBe(made);
      expect((await index(third, agentId)).summaries).toBe(made);
      expect((await index(third, agentId)).levels).toBeGreaterThan(1);
      for (const child of [second, third])
        expect((await search(child, agentId)).every(({ summary }) => summary !== undefined)).toBe(true);
    },
    LONG,
  );
};

const missing = missingForCluster();
describe('jobs about Knowledge on servers that processes share', () => {
  if (missing === undefined) specs();
  else it.todo(`skipped: ${missing}`);
});
