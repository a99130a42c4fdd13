import { setTimeout as pause } from 'node:timers/promises';
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
    const begun = ['Added', 'ProcessingStarted', 'Extracted', 'Chunked'];
    expect(types()).toEqual(begun);
    clock.advance(CLAIM_MS + 1);
    heir.start();
    await reaches(documentId, 'Ready');
    expect(types()).toEqual([...begun, 'ProcessingStarted', 'Embedded', 'Indexed', 'Ready']);
  });

  it('after the passages were stored leaves only the waiting to be done', async () => {
    const { worker, add, clock, decisions, meta, reaches, types, store } = running;
    const documentId = await add();
    const report = { step: 'parse', startedAt: clock.now().toISOString(), milliseconds: 1, produced: 1 } as const;
    const reports = { parse: report, chunk: report };
    for (const command of [
      { type: 'Start' },
      {
        type: 'MarkChunked',
        attempt: 1,
        text: 't',
        chunks: 'c',
        chunkCount: 1,
        tokenCount: 1,
        chunking: null,
        reports,
      },
      { type: 'MarkIndexed', attempt: 1, name: 'a.md', passages: 'p', embedded: 0, embeddingModel: 'm', steps: [] },
    ] as const) {
      await decisions.transact(documentDecider, documentId, command, meta());
    }
    await store.write(`ingestion-progress/${documentId}`, { documentId, attempt: 1 });
    worker().start();
    await reaches(documentId, 'Ready');
    expect(types()).toEqual(['Added', 'ProcessingStarted', 'Extracted', 'Chunked', 'Indexed', 'Ready']);
    expect(await store.list('ingestion-progress/')).toEqual([]);
  });
});

it('tries nothing again before its time, and looks again where what waits cannot be read', async () => {
  const { worker, add, waiting, clock, reaches, types, warnings } = running;
  const documentId = await add();
  const notBefore = new Date(clock.now().getTime() + 1_000).toISOString();
  waiting.set(documentId, { documentId, spaceId: '', userId: '', notBefore });
  const asked = jest.spyOn(waiting, 'values').mockImplementationOnce(() => {
    throw new Error('the view is away');
  });
  worker().start();
  await until(() => asked.mock.calls.length > 3);
  expect(types()).toEqual(['Added']);
  expect(warnings).toEqual(['Reading waiting documents failed; retrying.']);
  clock.advance(1_000);
  await reaches(documentId, 'Ready');
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

it('works on few at once again after documents that took long', async () => {
  const { worker, add, embedding } = running;
  const { embed } = embedding;
  const slow: (() => void)[] = [];
  embedding.embed = async (request) => {
    await new Promise<void>((resolve) => slow.push(resolve));
    return embed(request);
  };
  const ingesting = worker(20);
  for (let count = 0; count < 3; count += 1) ingesting.offer(await add());
  await until(() => slow.length === 3);
  embedding.embed = embed;
  for (const end of slow) end();
  await until(() => ingesting.busy === 0);
  const documents = [await add(), await add(), await add()];
  for (const documentId of documents) ingesting.offer(documentId);
  expect(ingesting.busy).toBe(2);
  await until(() => ingesting.busy === 0);
});

it('works on few at once after documents that took no time', async () => {
  const { worker, add, embedding } = running;
  const ingesting = worker(300);
  for (let count = 0; count < 2; count += 1) ingesting.offer(await add());
  await until(() => ingesting.busy === 0);
  // When they would have been long.
  await pause(350);
  const letGo = Promise.withResolvers<void>();
  const { embed } = embedding;
  embedding.embed = async (request) => {
    await letGo.promise;
    return embed(request);
  };
  const documents = [await add(), await add(), await add()];
  for (const documentId of documents) ingesting.offer(documentId);
  expect(ingesting.busy).toBe(2);
  letGo.resolve();
  await until(() => ingesting.busy === 0);
});

describe('Spaces that share a worker', () => {
  /** Holds every call of the embedding model, and lets one after the other go. */
  const held = () => {
    const calls: { readonly text: string; readonly go: () => void }[] = [];
    running.embedding.embed = async ({ model, texts }) => {
      await new Promise<void>((go) => calls.push({ text: texts.join(), go }));
      return { model, vectors: texts.map(() => Float32Array.of(1)) };
    };
    return calls;
  };

  it('begin beside each other, however much one of them has waiting', async () => {
    const { worker, add, reaches } = running;
    const calls = held();
    const ingesting = worker();
    for (let count = 0; count < 10; count += 1) ingesting.offer(await add('Of the large Space.'), { spaceId: 'large' });
    await until(() => calls.length === 2);
    const only = await add('Of the small Space.');
    ingesting.offer(only, { spaceId: 'small' });
    await until(() => calls.length === 3);
    calls.find(({ text }) => text.includes('small'))?.go();
    await reaches(only, 'Ready');
    expect(ingesting.busy).toBe(2);
    for (let gone = 0; gone < 11; gone += 1) {
      calls[gone]?.go();
      if (gone < 10) await until(() => calls.length > gone + 1);
    }
    await until(() => running.types().filter((type) => type === 'Ready').length === 11);
  });

  it('are served in turn', async () => {
    const { worker, add } = running;
    const calls = held();
    const ingesting = worker();
    for (const space of ['a', 'b', 'c', 'd', 'e', 'f'])
      for (let count = 0; count < 3; count += 1) ingesting.offer(await add(`Of ${space}.`), { spaceId: space });
    await until(() => calls.length === 5);
    for (let gone = 0; gone < 18; gone += 1) {
      calls[gone]?.go();
      if (gone < 17) await until(() => calls.length > gone + 1);
    }
    const order = calls.map(({ text }) => text.at(-2));
    // Those that are begun at once, then one of each Space before it.
    expect(order.indexOf('f')).toBeLessThanOrEqual(10);
    await until(() => running.types().filter((type) => type === 'Ready').length === 18);
  });

  it('leave a place to others where they are of one user', async () => {
    const { worker, add } = running;
    const calls = held();
    const ingesting = worker(20);
    for (const spaceId of ['a', 'b', 'c', 'd', 'e'])
      for (let count = 0; count < 2; count += 1)
        ingesting.offer(await add(`Of ${spaceId}.`), { spaceId, userId: 'eager' });
    await until(() => calls.length === 4);
    ingesting.offer(await add('Of z.'), { spaceId: 'z', userId: 'other' });
    await until(() => calls.length === 5);
    expect(calls[4]?.text).toContain('Of z.');
    for (let gone = 0; gone < 11; gone += 1) {
      await until(() => calls.length > gone);
      calls[gone]?.go();
    }
    await until(() => running.types().filter((type) => type === 'Ready').length === 11);
  });

  it('leave each other a place where documents take long', async () => {
    const { worker, add } = running;
    const calls = held();
    const ingesting = worker(20);
    for (let count = 0; count < 8; count += 1) ingesting.offer(await add('Of the slow Space.'), { spaceId: 'slow' });
    await until(() => calls.length === 4);
    ingesting.offer(await add('Of the other Space.'), { spaceId: 'other' });
    await until(() => calls.length === 5);
    expect(calls[4]?.text).toContain('other');
    for (let gone = 0; gone < 9; gone += 1) {
      await until(() => calls.length > gone);
      calls[gone]?.go();
    }
    await until(() => running.types().filter((type) => type === 'Ready').length === 9);
  });
});
