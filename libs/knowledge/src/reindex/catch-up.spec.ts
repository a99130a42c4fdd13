import { decodePassages, encodePassages, type StoredPassage } from '@app/search-index';
import { Unavailable } from '@app/kernel';
import { Parser } from '@app/extraction';
import { running, TEXT, withIngestion } from '../../../../test/fixtures/ingesting';
import { documentDecider, type LiveDocument } from '../document/document.decider';
import { IngestionFailure } from '../ingestion/ingestion-failure';
import { catchUp, type CatchUpParts } from './catch-up';
import { INSTANCE, reindexDecider } from './reindex.decider';

withIngestion();

const BATCH = 16;
const textOf = (sections: number): string =>
  Array.from({ length: sections }, (_, index) => `# ${index}\n\nSentence ${index}.`).join('\n\n');

const job = (command: Parameters<typeof reindexDecider.decide>[0]) =>
  running.decisions.transact(reindexDecider, INSTANCE, command, running.meta());
/** A job of the instance that is swapped. */
const swapped = async (): Promise<string> => {
  const jobId = running.ids.next();
  const estimate = { calls: 1, tokens: 1, cost: '0' };
  const place = { scope: 'instance', spaceId: null, agentId: null } as const;
  await job({ type: 'Start', jobId, ...place, embeddingModel: 'other', documents: 1, estimate });
  await job({ type: 'MarkReady', jobId, documents: 1 });
  await job({ type: 'Swap' });
  return jobId;
};
const rolledBack = async (): Promise<string> => {
  const jobId = await swapped();
  await job({ type: 'RollBack' });
  return jobId;
};
const liveDocument = async (documentId: string) => (await running.stateOf(documentId)) as LiveDocument;
const indexedOf = async (documentId: string) =>
  (await liveDocument(documentId)).indexed as NonNullable<LiveDocument['indexed']>;
const passagesOf = async (documentId: string) =>
  decodePassages(running.blobs.bodies.get((await indexedOf(documentId)).passages) as Buffer);

/** What a job made of a document, from the passages that are searched. */
const asTheyAre = (passages: readonly StoredPassage[]) => ({ passages, made: {} });
/** What was searched before a swap, with vectors of a model: the first chunk was edited then. */
const earlierOf =
  (embeddingModel: string) =>
  ([first, ...others]: readonly StoredPassage[]) => ({
    passages: [{ ...(first as StoredPassage), text: 'Edited before.', edited: true }, ...others],
    made: { isEarlier: true, editedChunks: [first?.chunkId as string], embeddingModel } as const,
  });

const unembedded = (passages: readonly StoredPassage[]) =>
  earlierOf('other')(passages.map(({ vector: _vector, ...passage }) => passage));

/** A document whose last chunk was edited behind what a job made of it, and that its swap or rollback left out. */
const leftOut = async (
  jobId: string,
  text: string,
  standbyOf: typeof asTheyAre | ReturnType<typeof earlierOf> = asTheyAre,
) => {
  const { worker, add, reaches, blobs, decisions, meta } = running;
  const documentId = await add(text);
  worker().offer(documentId);
  await reaches(documentId, 'Ready');
  const {
    passages: of,
    text: read,
    chunkCount,
    tokenCount,
    chunking,
    model: embeddingModel,
  } = await indexedOf(documentId);
  const passages = await passagesOf(documentId);
  const put = async (stored: readonly StoredPassage[]) => (await blobs.put('', await encodePassages(stored))).name;
  const tell = (command: Parameters<typeof documentDecider.decide>[0]) =>
    decisions.transact(documentDecider, documentId, command, meta());
  const standby = standbyOf(passages);
  await tell({
    type: 'KeepReindexed',
    jobId,
    of,
    text: read,
    passages: await put(standby.passages),
    chunkCount,
    tokenCount,
    chunking,
    embeddingModel,
    ...standby.made,
  });
  const change = { text: 'Edited.', enabled: true, edited: true } as const;
  const last = passages.at(-1) as StoredPassage;
  const edited = [...passages.slice(0, -1), { ...last, ...change }];
  await tell({ type: 'UpdateChunk', chunkId: last.chunkId, ...change, base: of, passages: await put(edited) });
  return documentId;
};

/** What it takes to follow a swap to the model `other`; `asked` runs in each call of it, told which. */
const following = (asked: (call: number) => Promise<unknown> = async () => undefined) => {
  const model = { ...running.model, key: 'other' };
  const warnings: object[] = [];
  let calls = 0;
  const provider = {
    ...running.embedding,
    embed: async (request: Parameters<typeof running.embedding.embed>[0]) => {
      await asked((calls += 1));
      return { ...(await running.embedding.embed(request)), model };
    },
  };
  const { decisions, blobs, metering, ids, clock, rates } = running;
  const parts: CatchUpParts = {
    decisions,
    blobs,
    metering,
    ids,
    clock,
    models: { rates, embedding: () => ({ model, provider }), otherEmbeddings: () => [] },
    chunkingOf: async () => null,
    parser: new Parser({ memoryMb: 512, seconds: 60, inflatedBytes: 1024 ** 3 }),
    logger: { warn: (facts) => void warnings.push(facts) },
  };
  const follow = (documentId: string, signal = new AbortController().signal) =>
    catchUp(parts, { reindexId: INSTANCE, documentId }, signal);
  return { follow, warnings, calls: () => calls };
};

describe('a document that follows a re-index which left it out', () => {
  it('is searched by the model of that, with what was edited', async () => {
    const documentId = await leftOut(await swapped(), TEXT);
    expect(await following().follow(documentId)).toBe(true);
    expect((await indexedOf(documentId)).model).toBe('other');
    expect((await passagesOf(documentId)).at(-1)?.text).toBe('Edited.');
  });

  it.each([
    ['it is rolled back', swapped, asTheyAre, () => job({ type: 'RollBack' })],
    ['another one takes its place, which is swapped, too', swapped, asTheyAre, swapped],
    ['it is swapped again behind a rollback', rolledBack, unembedded, () => job({ type: 'Swap' })],
  ])('has no more of it made, nor paid for, once %s', async (_, begun, standbyOf, happens) => {
    const documentId = await leftOut(await begun(), textOf(2 * BATCH), standbyOf);
    const before = await indexedOf(documentId);
    const { follow, calls } = following((call) => (call === 1 ? happens() : Promise.resolve()));
    expect(await follow(documentId)).toBe(true);
    expect(calls()).toBe(1);
    expect((await indexedOf(documentId)).passages).toBe(before.passages);
  });

  it('has the edits from before a swap that is rolled back, and those since, all of them known as edits', async () => {
    const documentId = await leftOut(await rolledBack(), TEXT, earlierOf('gone'));
    expect(await following().follow(documentId)).toBe(true);
    const passages = await passagesOf(documentId);
    expect(passages.map(({ text }) => text)).toEqual(['Edited before.', 'Edited.']);
    expect([...(await liveDocument(documentId)).editedChunks].toSorted()).toEqual(
      passages.map(({ chunkId }) => chunkId).toSorted(),
    );
  });

  it('is not found by what it said before an edit, where the model from before a swap is gone', async () => {
    const documentId = await leftOut(await rolledBack(), TEXT, earlierOf('gone'));
    await following().follow(documentId);
    expect((await passagesOf(documentId)).map(({ vector }) => vector !== undefined)).toEqual([true, false]);
  });

  it('stays as it is where it cannot be read any more, and that is said', async () => {
    const documentId = await leftOut(await swapped(), TEXT);
    const { passages } = await indexedOf(documentId);
    const { follow, warnings } = following(() => Promise.reject(new IngestionFailure('malformed')));
    expect(await follow(documentId)).toBe(true);
    expect((await indexedOf(documentId)).passages).toBe(passages);
    expect(warnings).toEqual([{ documentId, code: 'malformed' }]);
  });

  it('is tried again where a store is away', async () => {
    const documentId = await leftOut(await swapped(), TEXT);
    const { follow, warnings } = following();
    jest.spyOn(running.blobs, 'get').mockRejectedValueOnce(new Unavailable('blobs', 'away'));
    await expect(follow(documentId)).rejects.toMatchObject({ name: 'Unavailable' });
    expect(warnings).toEqual([]);
    expect(await follow(documentId)).toBe(true);
    expect((await indexedOf(documentId)).model).toBe('other');
  });

  it('begins nothing in a process that stops', async () => {
    const documentId = await leftOut(await swapped(), TEXT);
    const reads = jest.spyOn(running.blobs, 'get');
    const stopping = AbortSignal.abort(new Error('stopping'));
    await expect(following().follow(documentId, stopping)).rejects.toThrow('stopping');
    expect(reads).not.toHaveBeenCalled();
  });
});
