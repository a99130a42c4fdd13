import { decodePassages } from '@app/search-index';
import { DomainError, Unavailable } from '@app/kernel';
import { until } from '../../../../test/fixtures/until';
import { CLAIM_MS, running, withIngestion } from '../../../../test/fixtures/ingesting';
import { documentDecider } from '../document/document.decider';

withIngestion();

const BATCH = 16;
/** A heading and a sentence are a chunk of their own. */
const textOf = (sentences: readonly string[]): string =>
  sentences.map((sentence, index) => `# ${index}\n\n${sentence}`).join('\n\n');
const sentences = (count: number, of = 'first'): readonly string[] =>
  Array.from({ length: count }, (_, index) => `Sentence ${index} of the ${of} text.`);

/** Counts what is embedded, and does something before each call: fail it, or never come back from it. */
const counted = (before: (call: number) => Promise<void> = async () => undefined) => {
  const texts: string[] = [];
  const { embed } = running.embedding;
  let calls = 0;
  running.embedding.embed = async (request) => {
    texts.push(...request.texts);
    await before((calls += 1));
    return embed(request);
  };
  return texts;
};
const replaced = async (documentId: string, text: string): Promise<void> => {
  const { decisions, meta, blobs } = running;
  const { name: file, size: sizeBytes } = await blobs.put('', Buffer.from(text));
  const content = { mimeType: 'text/markdown', sizeBytes, contentHash: text, file };
  await decisions.transact(documentDecider, documentId, { type: 'Update', content }, meta());
};
const passagesOf = async (documentId: string) => {
  const state = await running.stateOf(documentId);
  const name = 'indexed' in state ? (state.indexed?.passages ?? '') : '';
  return decodePassages(running.blobs.bodies.get(name) as Buffer);
};
/** The bodies in the store that no event names, or one has released. */
const leftOver = async (documentId: string): Promise<readonly string[]> => {
  const { decisions, meta, blobs, log } = running;
  await decisions.transact(documentDecider, documentId, { type: 'Delete' }, meta());
  const { blobs: held } = JSON.parse(log.events.at(-1)?.data ?? '') as { blobs: string[] };
  const released = log.events.flatMap(({ data }) => (JSON.parse(data) as { superseded?: string[] }).superseded ?? []);
  return [...blobs.bodies.keys()].filter((name) => !held.includes(name) && !released.includes(name));
};

describe('no step is done twice', () => {
  it('in a process that is alone, which claims nothing and goes on at once where the one before died', async () => {
    const { worker, workers, add, waiting, store, reaches } = running;
    const alone = (): ReturnType<typeof worker> => worker(undefined, { isAlone: true });
    const letGo = Promise.withResolvers<void>();
    let deadly = true;
    const texts = counted(() => (deadly ? new Promise(() => undefined) : letGo.promise));
    const documentId = await add();
    alone().offer(documentId);
    workers.pop();
    await until(() => texts.length === 2);
    deadly = false;

    const heir = alone();
    heir.start();
    await until(() => texts.length === 4);
    // The sweep finds it again and again.
    for (let offers = 0; offers < 3; offers += 1) heir.offer(documentId);
    expect(heir.busy).toBe(1);
    letGo.resolve();
    await reaches(documentId, 'Ready');
    waiting.clear();

    expect(texts).toHaveLength(4);
    expect(await store.list('claim/')).toEqual([]);
  });

  it.each([1, 2, 3, 4])('by the heir of a worker that died embedding batch %i', async (deadly) => {
    const { worker, workers, add, clock, reaches, types } = running;
    const texts = counted((call) => (call === deadly ? new Promise(() => undefined) : Promise.resolve()));
    const documentId = await add(textOf(sentences(50)));
    worker().offer(documentId);
    workers.pop();
    await until(() => texts.length >= Math.min(deadly * BATCH, 50));
    clock.advance(CLAIM_MS + 1);
    worker().offer(documentId);
    await reaches(documentId, 'Ready');
    expect(texts).toHaveLength(50 + (deadly === 4 ? 2 : BATCH));
    expect(types().filter((type) => type === 'Extracted' || type === 'Chunked')).toHaveLength(2);
    const passages = await passagesOf(documentId);
    expect(passages.map(({ ordinal, text }) => [ordinal, text])).toEqual([...sentences(50).entries()]);
    expect(passages.every(({ vector }) => vector?.length === 2)).toBe(true);
    expect(await leftOver(documentId)).toEqual([]);
  });

  it('by the next attempt where the embedding model failed', async () => {
    const { worker, add, clock, reaches, types } = running;
    const texts = counted(async (call) => {
      if (call === 3) throw new DomainError('upstream_error');
    });
    const documentId = await add(textOf(sentences(50)));
    const ingesting = worker();
    ingesting.offer(documentId);
    await until(() => types().includes('AttemptFailed') && ingesting.busy === 0);
    clock.advance(1_000);
    ingesting.offer(documentId);
    await reaches(documentId, 'Ready');
    expect(texts).toHaveLength(50 + BATCH);
  });

  it.each([1, 2, 3, 4, 5])('by the next attempt where the store of bodies was away at the put %i', async (away) => {
    const { worker, add, blobs, clock, reaches, types } = running;
    const documentId = await add(textOf(sentences(40)));
    const texts = counted();
    const put = blobs.put.bind(blobs);
    let puts = 0;
    blobs.put = async (...given) => {
      if ((puts += 1) === away) throw new Unavailable('blobs', 'the disk is full');
      return put(...given);
    };
    const ingesting = worker();
    ingesting.offer(documentId);
    await until(() => types().includes('AttemptFailed') && ingesting.busy === 0);
    clock.advance(1_000);
    ingesting.offer(documentId);
    await reaches(documentId, 'Ready');
    expect(texts.length - 40).toBeLessThanOrEqual(BATCH);
    expect(await leftOver(documentId)).toEqual([]);
  });

  it('for passages that new content has in common with the old one, wherever they stand', async () => {
    const { worker, add, reaches } = running;
    const documentId = await add(textOf(sentences(50)));
    const ingesting = worker();
    ingesting.offer(documentId);
    await reaches(documentId, 'Ready');
    const before = await passagesOf(documentId);
    const texts = counted();
    const changed = sentences(50).map((sentence, index) => (index === 20 ? 'It changed.' : sentence));
    await replaced(documentId, `${textOf(changed)}\n\n# 50\n\nIt is new.`);
    ingesting.offer(documentId);
    await reaches(documentId, 'Ready');
    expect(texts).toEqual(['a > 20\nIt changed.', 'a > 50\nIt is new.']);
    const after = await passagesOf(documentId);
    expect(after).toHaveLength(51);
    expect(after[7]).toEqual(before[7]);
    expect(await leftOver(documentId)).toEqual([]);
  });

  it('for what was embedded of content that was replaced meanwhile', async () => {
    const { worker, add, reaches } = running;
    const documentId = await add(textOf(sentences(40)));
    const texts = counted(async (call) => {
      if (call === 3) await replaced(documentId, textOf([...sentences(32), ...sentences(8, 'second')].slice(0, 40)));
    });
    const ingesting = worker();
    ingesting.offer(documentId);
    await until(() => texts.length === 40 && ingesting.busy === 0);
    ingesting.offer(documentId);
    await reaches(documentId, 'Ready');
    expect(texts).toHaveLength(48);
    expect(await leftOver(documentId)).toEqual([]);
  });

  it('unless the model is another, or reprocessing is forced', async () => {
    const { worker, add, reaches, decisions, meta, model } = running;
    const documentId = await add(textOf(sentences(20)));
    const ingesting = worker();
    ingesting.offer(documentId);
    await reaches(documentId, 'Ready');
    const texts = counted();
    model.key = 'another';
    await replaced(documentId, textOf(sentences(21)));
    ingesting.offer(documentId);
    await until(() => texts.length === 21);
    await reaches(documentId, 'Ready');
    await decisions.transact(documentDecider, documentId, { type: 'Reprocess', force: true }, meta());
    ingesting.offer(documentId);
    await until(() => texts.length === 42);
    await reaches(documentId, 'Ready');
    expect(await leftOver(documentId)).toEqual([]);
  });

  it('and what is gone from the store is done again', async () => {
    const { worker, add, blobs, clock, reaches, stateOf } = running;
    let fails = true;
    counted(async () => {
      if (fails) throw new DomainError('upstream_error');
    });
    const documentId = await add(textOf(sentences(3)));
    const ingesting = worker();
    ingesting.offer(documentId);
    await until(() => running.types().includes('AttemptFailed') && ingesting.busy === 0);
    const state = await stateOf(documentId);
    blobs.bodies.delete('chunked' in state ? (state.chunked?.chunks ?? '') : '');
    fails = false;
    clock.advance(1_000);
    ingesting.offer(documentId);
    await reaches(documentId, 'Ready');
    expect(await passagesOf(documentId)).toHaveLength(3);
  });
});
