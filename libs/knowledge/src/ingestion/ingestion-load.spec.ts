import { until } from '../../../../test/fixtures/until';
import { documentDecider } from '../document/document.decider';
import { CLAIM_MS, running, withIngestion } from '../../../../test/fixtures/ingesting';

withIngestion();

describe('a worker that died', () => {
  /** A worker that never comes back from the embedding model, as after `kill -9`. */
  const dieEmbedding = async () => {
    const documentId = await running.add();
    const { embed } = running.embedding;
    let reached = false;
    running.embedding.embed = () => {
      reached = true;
      return new Promise(() => undefined);
    };
    const dead = running.worker();
    running.workers.pop();
    dead.offer(documentId);
    await until(() => reached);
    running.embedding.embed = embed;
    return documentId;
  };

  it('is replaced when its claim has run out, not before', async () => {
    const documentId = await dieEmbedding();
    const { worker, clock, reaches, types } = running;
    const heir = worker();
    heir.offer(documentId);
    await until(() => heir.busy === 0);
    expect(types()).toEqual(['Added', 'ProcessingStarted']);
    clock.advance(CLAIM_MS + 1);
    heir.start();
    await reaches(documentId, 'Ready');
    expect(types()).toEqual(['Added', 'ProcessingStarted', 'ProcessingStarted', 'Indexed', 'Ready']);
  });

  it('after the passages were stored leaves only the waiting to be done', async () => {
    const { worker, add, decisions, meta, reaches, types } = running;
    const documentId = await add();
    for (const command of [
      { type: 'Start' },
      {
        type: 'MarkIndexed',
        attempt: 1,
        text: 't',
        passages: 'p',
        chunkCount: 1,
        tokenCount: 1,
        embeddingModel: null,
        steps: [],
      },
    ] as const) {
      await decisions.transact(documentDecider, documentId, command, meta());
    }
    worker().start();
    await reaches(documentId, 'Ready');
    expect(types()).toEqual(['Added', 'ProcessingStarted', 'Indexed', 'Ready']);
  });
});

it('works on few documents at once, and on each once', async () => {
  const { worker, add, embedding, types } = running;
  let [now, most] = [0, 0];
  embedding.embed = async ({ model, texts }) => {
    most = Math.max(most, (now += 1));
    await new Promise((resolve) => setTimeout(resolve, 5));
    now -= 1;
    return { model, vectors: texts.map(() => Float32Array.of(1)) };
  };
  const documents = await Promise.all(Array.from({ length: 6 }, () => add()));
  const ingesting = worker();
  for (const documentId of [...documents, ...documents]) ingesting.offer(documentId);
  await until(() => types().filter((type) => type === 'Ready').length === 6);
  expect(most).toBe(2);
  expect(types().filter((type) => type === 'ProcessingStarted')).toHaveLength(6);
});

it('goes on with others beside documents that take long, and holds few of those at once', async () => {
  const { worker, add, embedding, reaches, types } = running;
  const slow: (() => void)[] = [];
  embedding.embed = async ({ model, texts }) => {
    if (texts.some((text) => text.includes('slow'))) await new Promise<void>((resolve) => slow.push(resolve));
    return { model, vectors: texts.map(() => Float32Array.of(1)) };
  };
  const ingesting = worker(20);
  for (let count = 0; count < 3; count += 1) ingesting.offer(await add('A slow text.'));
  const quick = await add('A quick text.');
  ingesting.offer(quick);
  await reaches(quick, 'Ready');
  expect(slow).toHaveLength(3);
  for (let count = 0; count < 3; count += 1) ingesting.offer(await add('A slow text.'));
  await until(() => slow.length === 4);
  expect(ingesting.busy).toBe(4);
  for (let ended = 0; ended < 6; ended += 1) {
    await until(() => slow.length > 0);
    slow.shift()?.();
  }
  await until(() => types().filter((type) => type === 'Ready').length === 7);
});
