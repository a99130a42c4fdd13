import { randomBytes } from 'node:crypto';
import {
  type CommandMeta,
  Decisions,
  DomainError,
  EventCatalogue,
  EventCodec,
  FixedClock,
  type Keyring,
  TimeOrderedIds,
} from '@app/kernel';
import { type EmbeddingRequest, type ModelDescription, OutputRates, readCatalogue } from '@app/models';
import { Claims } from '@app/coordination';
import { decodePassages } from '@app/search-index';
import type { CallToMeter, Metering } from '@app/spending';
import { MemoryBlobs } from '../../../../test/fixtures/memory-blobs';
import { MemoryLog } from '../../../../test/fixtures/memory-log';
import { MemoryCoordinationStore } from '../../../../test/fixtures/memory-coordination-store';
import { unmetered } from '../../../../test/fixtures/scripted-turns';
import { until } from '../../../../test/fixtures/until';
import { documentDecider } from '../document/document.decider';
import { documentEvents } from '../document/document.events';
import { IngestionWorker, type WaitingDocument } from './ingestion-worker';
import { ProgressBoard } from './progress';

const ids = new TimeOrderedIds();
const CLAIM_MS = 10_000;
const TEXT = '# Zebras\n\nThey sleep standing up.\n\n# Backups\n\nThey run at night.';

const setUp = () => {
  const keys = new Map<string, Buffer>();
  const keyring: Keyring = {
    ensureKey: async (thing) => keys.get(thing) ?? (keys.set(thing, randomBytes(32)).get(thing) as Buffer),
    keys: async () => keys,
  };
  const log = new MemoryLog();
  const decisions = new Decisions(log, new EventCodec(new EventCatalogue(documentEvents), keyring));
  const blobs = new MemoryBlobs();
  const clock = new FixedClock();
  const store = new MemoryCoordinationStore();
  const embedding = {
    embed: async ({ texts }: EmbeddingRequest) => ({
      model,
      vectors: texts.map((text) => Float32Array.of(text.length, 1)),
    }),
    mayAnswer: () => [model],
  };
  const metering: Metering = { ...unmetered };
  const model = readCatalogue(undefined, 'USD').models.get('local-embedding') as ModelDescription;
  const waiting = new Map<string, WaitingDocument>();
  const search = { reached: true };
  const workers: IngestionWorker[] = [];

  const worker = (patienceMs?: number): IngestionWorker => {
    const made = new IngestionWorker({
      ...(patienceMs === undefined ? {} : { patienceMs }),
      decisions,
      blobs,
      models: { rates: new OutputRates(), embedding: () => ({ model, provider: embedding }) },
      metering,
      ids,
      clock,
      claims: new Claims(store, clock, ids.next(), CLAIM_MS),
      progress: new ProgressBoard(store, clock),
      searchable: async () => search.reached,
      waiting: async () => [...waiting.values()],
      logger: { warn: () => undefined },
      sweepMs: 5,
    });
    workers.push(made);
    return made;
  };
  const meta = (): CommandMeta => ({
    commandId: ids.next(),
    correlationId: ids.next(),
    actor: 'user:1',
    now: clock.now(),
  });
  const add = async (text = TEXT, mimeType = 'text/markdown'): Promise<string> => {
    const documentId = ids.next();
    const { name: file, size: sizeBytes } = await blobs.put('', Buffer.from(text));
    await decisions.transact(
      documentDecider,
      documentId,
      {
        type: 'Add',
        documentId,
        scope: 'global',
        spaceId: null,
        agentId: null,
        name: 'a.md',
        mimeType,
        sizeBytes,
        contentHash: 'h',
        provider: 'inline',
        file,
        tagIds: [],
      },
      meta(),
    );
    waiting.set(documentId, { documentId, notBefore: clock.now().toISOString() });
    return documentId;
  };
  const stateOf = async (documentId: string) => (await decisions.load(documentDecider, documentId)).state;
  const reaches = (documentId: string, status: string) =>
    until(async () => (await stateOf(documentId)).status === status);
  const types = () => log.events.map(({ type }) => type.replace('Document', ''));
  return {
    worker,
    workers,
    embedding,
    metering,
    blobs,
    clock,
    decisions,
    meta,
    ids,
    add,
    stateOf,
    reaches,
    types,
    waiting,
    search,
    store,
    log,
  };
};

let running: ReturnType<typeof setUp>;
beforeEach(() => (running = setUp()));
afterEach(() => Promise.all(running.workers.map((worker) => worker.stop())));

describe('ingestion', () => {
  it('reads, cuts, embeds, stores and publishes', async () => {
    const { worker, add, reaches, stateOf, blobs, types, log } = running;
    const documentId = await add();
    worker().offer(documentId);
    await reaches(documentId, 'Ready');
    expect(types()).toEqual(['Added', 'ProcessingStarted', 'Indexed', 'Ready']);
    const state = await stateOf(documentId);
    const indexed = 'indexed' in state && state.indexed !== null ? state.indexed : undefined;
    expect(blobs.bodies.get(indexed?.text ?? '')?.toString()).toBe(TEXT);
    const passages = await decodePassages(blobs.bodies.get(indexed?.passages ?? '') as Buffer);
    expect(
      passages.map(({ headings, text, start, end, vector }) => [
        headings,
        text,
        TEXT.slice(start, end),
        vector?.length,
      ]),
    ).toEqual([
      [['Zebras'], 'They sleep standing up.', 'They sleep standing up.', 2],
      [['Backups'], 'They run at night.', 'They run at night.', 2],
    ]);
    const steps = (JSON.parse(log.events[2]?.data ?? '') as { steps: { step: string; produced: number }[] }).steps;
    expect(steps.map(({ step, produced }) => [step, produced])).toEqual([
      ['parse', TEXT.length],
      ['chunk', 2],
      ['embed', 2],
      ['publish', 2],
    ]);
  });

  it('keeps the ids of passages that did not change', async () => {
    const { worker, add, reaches, decisions, meta, blobs, stateOf } = running;
    const documentId = await add();
    const ingesting = worker();
    const chunkIds = async () => {
      ingesting.offer(documentId);
      await reaches(documentId, 'Ready');
      const state = await stateOf(documentId);
      return 'indexed' in state
        ? (await decodePassages(blobs.bodies.get(state.indexed?.passages ?? '') as Buffer)).map(
            ({ chunkId }) => chunkId,
          )
        : [];
    };
    const before = await chunkIds();
    await decisions.transact(documentDecider, documentId, { type: 'Reprocess', force: true }, meta());
    expect(await chunkIds()).toEqual(before);
  });

  it.each([
    ['application/pdf', TEXT, 'unsupported_type'],
    ['text/plain', '', 'empty_document'],
  ])('fails at once for what repeating cannot mend: %s', async (mimeType, text, code) => {
    const { worker, add, reaches, log } = running;
    const documentId = await add(text, mimeType);
    worker().offer(documentId);
    await reaches(documentId, 'Failed');
    expect(JSON.parse(log.events.at(-1)?.data ?? '')).toEqual({ attempt: 1, step: 'parse', code });
  });

  it('counts its calls of the embedding model for whoever wanted the document read', async () => {
    const { worker, add, reaches, metering, decisions, meta, ids } = running;
    const calls: CallToMeter[] = [];
    metering.begin = async (call) => {
      calls.push(call);
      return unmetered.begin(call);
    };
    const documentId = await add();
    const ingesting = worker();
    ingesting.offer(documentId);
    await reaches(documentId, 'Ready');
    const keyId = ids.next();
    await decisions.transact(
      documentDecider,
      documentId,
      { type: 'Reprocess', force: true },
      { ...meta(), actor: `key:${keyId}`, onBehalfOf: 'user:2' },
    );
    ingesting.offer(documentId);
    await until(() => calls.length === 2);
    expect(calls).toMatchObject([
      { userId: '1', kind: 'embedding', estimate: { inputTokens: 15 } },
      { userId: '2', keyId, kind: 'embedding' },
    ]);
  });

  it('waits for a usage limit that is used up', async () => {
    const { worker, add, metering, log, types } = running;
    metering.begin = async () => {
      throw new DomainError('usage_limit_exceeded');
    };
    const documentId = await add();
    worker().offer(documentId);
    await until(() => types().includes('AttemptFailed'));
    expect(JSON.parse(log.events.at(-1)?.data ?? '')).toEqual({
      attempt: 1,
      step: 'embed',
      code: 'usage_limit_exceeded',
      retryAt: '2026-01-01T00:00:01.000Z',
    });
  });

  it('tries again, later each time, while the embedding model fails, and ends as Failed', async () => {
    const { worker, add, reaches, clock, embedding, types, waiting, log } = running;
    embedding.embed = async () => {
      throw new DomainError('upstream_error');
    };
    const documentId = await add();
    worker().start();
    const pauses: number[] = [];
    for (let failure = 1; failure <= 5; failure += 1) {
      await until(() => types().filter((type) => type === 'AttemptFailed').length === failure);
      const { retryAt } = JSON.parse(log.events.at(-1)?.data ?? '') as { retryAt: string };
      pauses.push(Date.parse(retryAt) - clock.now().getTime());
      waiting.set(documentId, { documentId, notBefore: retryAt });
      clock.advance(pauses.at(-1) as number);
    }
    await reaches(documentId, 'Failed');
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000]);
    expect(JSON.parse(log.events.at(-1)?.data ?? '')).toEqual({ attempt: 6, step: 'embed', code: 'upstream_error' });
  });

  it('fails where the search index does not take the document', async () => {
    const { worker, add, reaches, search, types } = running;
    search.reached = false;
    const documentId = await add();
    worker().offer(documentId);
    await reaches(documentId, 'Failed');
    expect(types()).toEqual(['Added', 'ProcessingStarted', 'Indexed', 'ProcessingFailed']);
  });

  it('leaves nothing of a document that is deleted meanwhile', async () => {
    const { worker, add, decisions, meta, embedding, blobs, types } = running;
    const documentId = await add();
    const file = [...blobs.bodies.keys()];
    embedding.embed = async ({ model, texts }) => {
      await decisions.transact(documentDecider, documentId, { type: 'Delete' }, meta());
      return { model, vectors: texts.map(() => Float32Array.of(1)) };
    };
    const ingesting = worker();
    ingesting.offer(documentId);
    await until(() => types().includes('Deleted') && ingesting.busy === 0);
    expect(types()).toEqual(['Added', 'ProcessingStarted', 'Deleted']);
    expect([...blobs.bodies.keys()].filter((name) => !file.includes(name))).toEqual([]);
  });
});

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
