import type { Child } from '../e2e/child';
import type { ShownIndex } from '../e2e/summaries-world';
import { bookOf, startSummariser, type SummariserDouble } from '../fixtures/summariser-double';
import { until } from '../fixtures/until';
import { ask, call, killedProduct } from './killed-product';
import { seededNumbers } from './log/rounds';

/** Fault 39: a build of a summary index is killed and cancelled at any point. The index is consistent or absent, and no call is made twice but one. */
/** Texts in one call of the embedding model. */
const EMBEDDED_AT_ONCE = 16;

const number = seededNumbers();

const product = killedProduct('summaries');
let model: SummariserDouble;
beforeEach(async () => (model = await startSummariser()));
afterEach(() => model.stop());

const start = (dieBefore?: string) =>
  dieBefore === undefined
    ? product.start({ MODELS_FILE: model.modelsFile })
    : product.start(
        { MODELS_FILE: model.modelsFile, DIE_BEFORE: dieBefore },
        'test/faults/processes/dying-builder-child.ts',
      );

const indexOf = (child: Child, agentId: string) => call<ShownIndex>(child, `core/knowledge/${agentId}/summary-index`);
const build = (child: Child, agentId: string, mode = 'build') =>
  ask(child, `core/knowledge/${agentId}/summary-index`, 'POST', { mode });
const isBuilt = (child: Child, agentId: string) =>
  until(async () => (await indexOf(child, agentId)).state === 'ready', 'the build');

/** An Agent with two books that are Ready. */
const prepared = async (child: Child, sections = 12): Promise<string> => {
  const agent = { name: 'Guide', model: 'summariser', knowledgeEnabled: true, includeAiSummary: true };
  const { id } = await call<{ id: string }>(child, 'core/agents', 'POST', agent);
  for (const animal of ['fox', 'owl']) {
    const document = { name: `${animal}.md`, content: bookOf(animal, sections), mimeType: 'text/markdown' };
    const added = await call<{ id: string }>(child, `core/knowledge/${id}/documents`, 'POST', document);
    const path = `core/knowledge/${id}/documents/${added.id}`;
    await until(async () => (await call<{ status: string }>(child, path)).status === 'Ready', animal);
  }
  model.summarised.length = 0;
  model.embedded.length = 0;
  return id;
};

/** Everything that is shown of an index: it is whole where every chunk has a summary. */
const shownOf = async (child: Child, agentId: string) => {
  const { items } = await call<{ items: { summary?: { id: string; text: string } }[] }>(
    child,
    `core/knowledge/${agentId}/search`,
    'POST',
    { query: 'habit of the fox and the owl', topK: 50 },
  );
  return items.map(({ summary }) => summary);
};

test('a build that was killed in the middle of a call makes that call again, and no other', async () => {
  let child = await start();
  const agentId = await prepared(child);
  await build(child, agentId);
  await until(() => model.summarised.length > 4, 'some calls');
  model.hold = true;
  const before = model.summarised.length;
  await until(() => model.summarised.length > before, 'a call that is not answered');
  expect(await indexOf(child, agentId)).toMatchObject({ state: 'building', summaries: 0 });
  child.kill('SIGKILL');
  await child.exited;

  model.release();
  child = await start();
  await isBuilt(child, agentId);
  const { summaries, levels } = await indexOf(child, agentId);
  expect(levels).toBeGreaterThan(1);
  expect(model.summarised).toHaveLength(summaries + 1);
  expect(new Set(model.summarised).size).toBe(summaries);
  expect((await shownOf(child, agentId)).every((summary) => summary !== undefined)).toBe(true);
  await child.stop();
});

test('a build comes to its end, whatever it was killed before: each append, and each body', async () => {
  let child = await start();
  const agentId = await prepared(child);
  await build(child, agentId);
  await isBuilt(child, agentId);
  const { summaries } = await indexOf(child, agentId);
  const embeddings = model.embedded.length;
  expect((await ask(child, `core/knowledge/${agentId}/summary-index?purge=true`, 'DELETE')).status).toBe(204);
  await child.stop();

  // Before: the first summaries; a vector, and its event; the hierarchy, and its event.
  const deaths = ['append 1', 'append 4', 'put 1', 'put 2', `append ${summaries}`, `put ${embeddings + 1}`];
  child = await start(deaths[0]);
  for (const [index, death] of deaths.entries()) {
    model.summarised.length = 0;
    model.embedded.length = 0;
    child.kill('SIGUSR2');
    await until(() => child.output().includes('armed'), 'the mark');
    // It may die before it has answered.
    await build(child, agentId, 'rebuild').catch((error: unknown) => expect(error).toBeInstanceOf(TypeError));
    let isDead = false;
    void child.exited.then(() => (isDead = true));
    await until(() => isDead, `the death before ${death}`);
    // It ends what the one before began, and is the next to die.
    child = await start(deaths[index + 1]);
    await isBuilt(child, agentId);
    const built = await indexOf(child, agentId);
    expect([death, built.summaries]).toEqual([death, summaries]);
    expect(model.summarised.length - summaries).toBeLessThanOrEqual(1);
    const again = model.embedded.length - embeddings;
    expect([death, again >= 0 && again <= EMBEDDED_AT_ONCE]).toEqual([death, true]);
    expect((await shownOf(child, agentId)).every((summary) => summary !== undefined)).toBe(true);
  }
  await child.stop();
}, 300_000);

test('a build that is cancelled at any moment leaves the index as it was, or none', async () => {
  const child = await start();
  const agentId = await prepared(child, 6);
  let known: Pick<ShownIndex, 'state' | 'builtAt' | 'summaries'> = { state: 'absent', builtAt: null, summaries: 0 };
  let cut = 0;
  for (let round = 0; round < 20; round += 1) {
    const from = model.summarised.length;
    const mode = round % 3 === 0 ? 'build' : 'rebuild';
    expect((await build(child, agentId, mode)).status).toBe(202);
    const calls = number(12);
    await until(
      async () => model.summarised.length >= from + calls || (await indexOf(child, agentId)).state !== 'building',
      'some calls',
    );
    expect((await ask(child, `core/knowledge/${agentId}/summary-index`, 'DELETE')).status).toBe(204);
    const now = await indexOf(child, agentId);
    expect(now.state).not.toBe('building');
    if (now.builtAt === known.builtAt) {
      cut += 1;
      expect(now).toMatchObject(known);
    }
    known = { state: now.state, builtAt: now.builtAt, summaries: now.summaries };
    // Consistent: all or nothing of what is found has its summary, and each of them once.
    const shown = await shownOf(child, agentId);
    const has = shown.filter((summary) => summary !== undefined).length;
    expect([0, shown.length]).toContain(has);
    expect(has > 0).toBe(now.state === 'ready');
  }
  expect(cut).toBeGreaterThan(5);
  expect((await build(child, agentId)).status).toBe(202);
  await isBuilt(child, agentId);
  const { summaries } = await indexOf(child, agentId);
  // What cancelled builds have left goes with the build that ends: nobody reads it any more.
  await until(async () => (await summariesLeft(child)) === summaries, 'the end of what was left');
  await child.stop();
}, 300_000);

/** How many summaries were added and not removed. */
const summariesLeft = async (child: Child): Promise<number> => {
  const count = async (type: string): Promise<number> => {
    let found = 0;
    for (let cursor: string | null = null; ;) {
      const more: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const path = `audit/events?type=${type}&limit=100${more}`;
      const page = await call<{ items: unknown[]; nextCursor: string | null }>(child, path);
      found += page.items.length;
      if (page.nextCursor === null) return found;
      cursor = page.nextCursor;
    }
  };
  return (await count('SectionSummaryAdded')) - (await count('SectionSummaryRemoved'));
};
