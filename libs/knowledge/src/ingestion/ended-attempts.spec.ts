import { Unavailable } from '@app/kernel';
import type { EmbeddingRequest } from '@app/models';
import { decodePassages, encodePassages } from '@app/search-index';
import type { CallToMeter } from '@app/spending';
import { running, TEXT, withIngestion } from '../../../../test/fixtures/ingesting';
import { unmetered } from '../../../../test/fixtures/scripted-turns';
import { until } from '../../../../test/fixtures/until';
import { documentDecider } from '../document/document.decider';
import { ProgressBoard } from './progress';

withIngestion();

/** Each sentence is a passage of its own: two calls of the model, and a part of a third. */
const textOf = (what: string): string =>
  Array.from({ length: 40 }, (_, index) => `# ${index}\n\n${what} ${index}.`).join('\n\n');

/** Keeps what the embedding model is asked, and does something before each answer. */
const asked = (before: (request: EmbeddingRequest, call: number) => Promise<unknown>): readonly EmbeddingRequest[] => {
  const requests: EmbeddingRequest[] = [];
  const { embed } = running.embedding;
  running.embedding.embed = async (request) => {
    await before(request, requests.push(request));
    return embed(request);
  };
  return requests;
};

const replaced = async (documentId: string, text: string): Promise<void> => {
  const { decisions, meta, blobs } = running;
  const file = `file of ${text}`;
  blobs.bodies.set(file, Buffer.from(text));
  const content = { mimeType: 'text/markdown', sizeBytes: text.length, contentHash: text, file };
  await decisions.transact(documentDecider, documentId, { type: 'Update', content }, meta());
};

const leaves = ({ signal }: EmbeddingRequest): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

it('a worker that stops ends its call of the model, and the document fails by nothing of it', async () => {
  const { worker, add, reaches, stateOf, types, warnings } = running;
  const requests = asked((request, call) => (call === 1 ? leaves(request) : Promise.resolve()));
  const documentId = await add();
  const first = worker();
  first.offer(documentId);
  await until(() => requests.length === 1);
  await first.stop();
  first.offer(documentId);
  expect([first.busy, warnings]).toEqual([0, []]);
  expect(types()).toEqual(['Added', 'ProcessingStarted', 'Extracted', 'Chunked']);

  worker().offer(documentId);
  await reaches(documentId, 'Ready');
  expect(await stateOf(documentId)).toMatchObject({ attempt: 2, failures: 0 });
});

it('a worker that stops begins none of those that wait', async () => {
  const { worker, add, types } = running;
  const requests = asked((request) => leaves(request));
  const stopped = worker();
  for (let count = 0; count < 3; count += 1) stopped.offer(await add());
  await until(() => requests.length === 2);
  await stopped.stop();
  expect([requests.length, stopped.busy]).toEqual([2, 0]);
  expect(types().filter((type) => type === 'ProcessingStarted')).toHaveLength(2);
});

it('an attempt whose document got other content asks the model no more', async () => {
  const { worker, add, reaches } = running;
  const documentId = await add(textOf('Before'));
  const requests = asked(async (_, call) => (call === 1 ? replaced(documentId, textOf('After')) : undefined));
  const ingesting = worker();
  ingesting.offer(documentId);
  await until(() => requests.length > 0 && ingesting.busy === 0);
  expect(requests).toHaveLength(1);
  ingesting.offer(documentId);
  await reaches(documentId, 'Ready');
  const texts = requests.map(({ texts: [first] }) => first?.split('\n').at(-1));
  expect(texts).toEqual(['Before 0.', 'After 0.', 'After 16.', 'After 32.']);
});

it('an attempt whose document got other content while it was cut asks no model at all', async () => {
  const { worker, add, reaches, blobs } = running;
  const documentId = await add('Before.');
  const requests = asked(async () => undefined);
  const put = blobs.put.bind(blobs);
  blobs.put = async (...given) => {
    blobs.put = put;
    await replaced(documentId, 'After.');
    return put(...given);
  };
  const ingesting = worker();
  ingesting.offer(documentId);
  await until(() => blobs.put === put && ingesting.busy === 0);
  expect(requests).toEqual([]);
  ingesting.offer(documentId);
  await reaches(documentId, 'Ready');
  expect(requests.flatMap(({ texts }) => texts)).toEqual(['a\nAfter.']);
});

it('an attempt that fails as the text is stored says that it was cut by then', async () => {
  const { worker, add, blobs, types, log } = running;
  const documentId = await add();
  jest.spyOn(blobs, 'put').mockRejectedValueOnce(new Unavailable('blobs', 'the disk is full'));
  worker().offer(documentId);
  await until(() => types().includes('AttemptFailed'));
  expect(JSON.parse(log.events.at(-1)?.data ?? '')).toMatchObject({ step: 'chunk', code: 'unavailable' });
});

it('an attempt behind one that was killed leaves nothing of the progress of that one', async () => {
  const { worker, add, reaches, decisions, meta, store } = running;
  const documentId = await add();
  await decisions.transact(documentDecider, documentId, { type: 'Start' }, meta());
  await store.write(`ingestion-progress/${documentId}`, { documentId, attempt: 1 });
  const heir = worker();
  heir.offer(documentId);
  await reaches(documentId, 'Ready');
  await until(() => heir.busy === 0);
  expect(await store.list('ingestion-progress/')).toEqual([]);
});

it('vectors of an earlier version, which did not say of what they are, are not paid for again', async () => {
  const { worker, add, reaches, stateOf, blobs } = running;
  const documentId = await add();
  const ingesting = worker();
  ingesting.offer(documentId);
  await reaches(documentId, 'Ready');
  const state = await stateOf(documentId);
  const name = ('indexed' in state && state.indexed?.passages) || '';
  const passages = await decodePassages(blobs.bodies.get(name) as Buffer);
  const earlier = passages.map((passage) => {
    const { embeddedAs: _, ...known } = passage;
    return known;
  });
  blobs.bodies.set(name, await encodePassages(earlier));
  await replaced(documentId, '# Zebras\n\nThey sleep standing up.');
  const requests = asked(async () => undefined);
  ingesting.offer(documentId);
  await reaches(documentId, 'Ready');
  expect(requests).toEqual([]);
});

it('an edited chunk is one again in other content that has its text, and what was dropped is counted', async () => {
  const { worker, add, reaches, stateOf, blobs, decisions, meta, log } = running;
  const documentId = await add();
  const ingesting = worker();
  ingesting.offer(documentId);
  await reaches(documentId, 'Ready');
  const served = async () => {
    const state = await stateOf(documentId);
    const base = ('indexed' in state && state.indexed?.passages) || '';
    return { base, passages: await decodePassages(blobs.bodies.get(base) as Buffer) };
  };
  for (const [index, text] of ['They swim.', 'They fly.'].entries()) {
    const { base, passages } = await served();
    const edited = passages.map((each) => (each.ordinal === index ? { ...each, text, edited: true as const } : each));
    const { name } = await blobs.put('', await encodePassages(edited));
    const edit = { chunkId: edited[index]?.chunkId ?? '', text, enabled: true, edited: true, base, passages: name };
    await decisions.transact(documentDecider, documentId, { type: 'UpdateChunk', ...edit }, meta());
  }
  await replaced(documentId, '# Zebras\n\nThey sleep standing up. More follows.');
  ingesting.offer(documentId);
  await reaches(documentId, 'Ready');
  const { passages } = await served();
  expect(passages.map(({ text }) => text)).toEqual(['They swim.', 'More follows.']);
  const indexed = log.events.findLast(({ type }) => type === 'DocumentIndexed');
  expect(JSON.parse(indexed?.data ?? '')).toMatchObject({ editedChunks: [passages[0]?.chunkId], editsDropped: 1 });
});

it('progress counts what needs no embedding as done', async () => {
  const { worker, add, reaches } = running;
  const documentId = await add();
  const ingesting = worker();
  ingesting.offer(documentId);
  await reaches(documentId, 'Ready');
  const show = jest.spyOn(ProgressBoard.prototype, 'show');
  await replaced(documentId, `${TEXT}\n\n# Moles\n\nThey dig.`);
  ingesting.offer(documentId);
  await reaches(documentId, 'Ready');
  const steps = show.mock.calls.map(([, , step, done, total]) => [step, done, total]);
  expect(steps).toEqual([
    ['parse', 0, null],
    ['embed', 0, 3],
    ['embed', 3, 3],
    ['publish', 0, 3],
  ]);
});

it('what is embedded counts for the Agent and the Space of its document', async () => {
  const { worker, add, reaches, metering, ids } = running;
  const calls: CallToMeter[] = [];
  metering.begin = async (call) => {
    calls.push(call);
    return unmetered.begin(call);
  };
  const [spaceId, agentId] = [ids.next(), ids.next()];
  const documentId = await add('A text.', 'text/plain', { scope: 'agent', spaceId, agentId });
  worker().offer(documentId);
  await reaches(documentId, 'Ready');
  expect(calls).toMatchObject([{ userId: '1', spaceId, agentId }]);
});

it('what is stored of a document is of its Space, and lasts before an event names it', async () => {
  const { worker, add, reaches, blobs, ids, types } = running;
  const spaceId = ids.next();
  const documentId = await add('A text.', 'text/plain', { scope: 'space', spaceId, agentId: null });
  const put = jest.spyOn(blobs, 'put');
  const group = blobs.group();
  const durable: (readonly string[])[] = [];
  blobs.group = () => ({ ...group, durable: async () => void durable.push(types()) });
  worker().offer(documentId);
  await reaches(documentId, 'Ready');
  expect(durable).toEqual([['Added', 'ProcessingStarted']]);
  // The text and its chunks, and the passages.
  const stored = [`document-${documentId}`, expect.anything(), { spaceId }];
  expect(put.mock.calls).toEqual([stored, stored, stored]);
});

it('a document whose file is gone from the store fails and says so', async () => {
  const { worker, add, reaches, blobs, log } = running;
  const documentId = await add();
  blobs.bodies.clear();
  worker().offer(documentId);
  await reaches(documentId, 'Failed');
  expect(JSON.parse(log.events.at(-1)?.data ?? '')).toEqual({ attempt: 1, step: 'parse', code: 'content_missing' });
});
