import { DomainError } from '@app/kernel';
import { Claims } from '@app/coordination';
import { decodePassages } from '@app/search-index';
import type { CallToMeter } from '@app/spending';
import { CLAIM_MS, running, withIngestion } from '../../../../test/fixtures/ingesting';
import { unmetered } from '../../../../test/fixtures/scripted-turns';
import { until } from '../../../../test/fixtures/until';
import { documentDecider } from '../document/document.decider';
import { RetitleWorker } from './retitle-worker';
import { Retitles } from './retitles';

withIngestion();
const workers: RetitleWorker[] = [];
afterEach(() => Promise.all(workers.splice(0).map((worker) => worker.stop())));

/** Sections that are a passage each: three batches. */
const SECTIONS = 40;
const TEXT = Array.from({ length: SECTIONS }, (_, index) => `# ${index}\n\nSentence ${index}.`).join('\n\n');

const retitling = (): RetitleWorker => {
  const { decisions, blobs, model, embedding, metering, ids, clock, store } = running;
  const worker = new RetitleWorker({
    decisions,
    blobs,
    models: { rates: running.rates, embedding: () => ({ model, provider: embedding }), otherEmbeddings: () => [] },
    metering,
    ids,
    clock,
    claims: new Claims(store, clock, ids.next(), CLAIM_MS, console),
    coordination: store,
    logger: { warn: () => undefined },
    sweepMs: 5,
  });
  workers.push(worker);
  worker.start();
  return worker;
};

/** A document that is Ready; every text that is embedded from then on. */
const setUp = async () => {
  const { worker, add, reaches, embedding, model } = running;
  const documentId = await add(TEXT);
  worker().offer(documentId);
  await reaches(documentId, 'Ready');
  const texts: string[] = [];
  embedding.embed = async (asked) => {
    texts.push(...asked.texts);
    return { model, vectors: asked.texts.map((text) => Float32Array.of(text.length, 1)) };
  };
  return { documentId, texts };
};
const rename = async (documentId: string, name: string): Promise<void> => {
  const { decisions, meta, ids, store } = running;
  await decisions.transact(documentDecider, documentId, { type: 'Update', name }, meta());
  await new Retitles(store).add(documentId, { userId: '2' }, ids.next());
};
const isOver = () =>
  until(async () => (await new Retitles(running.store).waiting()).length === 0, 'the end of the work');
const served = async (documentId: string) => {
  const state = await running.stateOf(documentId);
  const name = 'indexed' in state ? (state.indexed?.passages ?? '') : '';
  return decodePassages(running.blobs.bodies.get(name) as Buffer);
};

describe('a renamed document', () => {
  it('is embedded behind its new title, once, for whoever renamed it, and stays Ready', async () => {
    const { documentId, texts } = await setUp();
    const before = await served(documentId);
    const calls: CallToMeter[] = [];
    running.metering.begin = async (call) => {
      calls.push(call);
      return unmetered.begin(call);
    };
    await rename(documentId, 'Bison.md');
    retitling();
    await isOver();
    expect(texts).toHaveLength(SECTIONS);
    expect(texts.every((text) => text.startsWith('Bison > '))).toBe(true);
    expect(calls.every(({ userId }) => userId === '2')).toBe(true);
    expect(running.types().filter((type) => type === 'ProcessingStarted')).toHaveLength(1);
    const after = await served(documentId);
    expect(after.map(({ chunkId, text }) => [chunkId, text])).toEqual(
      before.map(({ chunkId, text }) => [chunkId, text]),
    );
    expect(after.map(({ vector }) => vector?.[0])).toEqual(texts.map(({ length }) => length));
    // Neither the former passages nor the batches are referred to any more.
    const { superseded } = JSON.parse(running.log.events.at(-1)?.data ?? '') as { superseded: string[] };
    expect(superseded).toHaveLength(3);

    // Nothing is left to do: a repeat, and a name with the same title.
    await rename(documentId, 'Bison.txt');
    await isOver();
    expect(texts).toHaveLength(SECTIONS);
  });

  it('goes on behind the last batch that was kept, after a failure and in another process', async () => {
    const { documentId, texts } = await setUp();
    const { embedding, clock } = running;
    const embed = embedding.embed;
    let failing = false;
    embedding.embed = async (asked) => {
      if (texts.length >= 16 && !failing) {
        failing = true;
        throw new DomainError('upstream_error');
      }
      return embed(asked);
    };
    await rename(documentId, 'Bison.md');
    const first = retitling();
    await until(() => failing, 'the failure');
    await first.stop();
    clock.advance(CLAIM_MS);
    retitling();
    await isOver();
    expect(texts).toHaveLength(SECTIONS);
    expect((await served(documentId)).every(({ vector }) => vector !== undefined)).toBe(true);
  });

  it('that is renamed again meanwhile ends with its last title', async () => {
    const { documentId, texts } = await setUp();
    const embed = running.embedding.embed;
    running.embedding.embed = async (asked) => {
      if (texts.length === 16) await rename(documentId, 'Camel.md');
      return embed(asked);
    };
    await rename(documentId, 'Bison.md');
    retitling();
    await isOver();
    expect(texts.slice(-SECTIONS).every((text) => text.startsWith('Camel > '))).toBe(true);
    expect((await served(documentId)).map(({ vector }) => vector?.[0])).toEqual(
      texts.slice(-SECTIONS).map(({ length }) => length),
    );
  });

  it('waits for none of those that cannot be worked on now', async () => {
    const { documentId } = await setUp();
    const { store, clock, ids } = running;
    const elsewhere = new Claims(store, clock, ids.next(), CLAIM_MS, console);
    const others = Array.from({ length: 600 }, (_, index) => `0000${index}`);
    for (const other of others) await new Retitles(store).add(other, null, ids.next());
    const held = await Promise.all(others.map((other) => elsewhere.take(`retitle/${other}`)));
    await rename(documentId, 'Bison.md');
    retitling();
    await until(async () => (await new Retitles(store).waiting()).length === others.length, 'the end of its work');
    expect((await served(documentId)).every(({ embeddedAs }) => embeddedAs !== undefined)).toBe(true);
    for (const release of held) await release?.();
  });

  it('while it is ingested is embedded behind its new title there', async () => {
    const { worker, add, reaches, embedding, model, decisions, meta } = running;
    const documentId = await add();
    const texts: string[] = [];
    embedding.embed = async (asked) => {
      if (texts.length === 0)
        await decisions.transact(documentDecider, documentId, { type: 'Update', name: 'Bison.md' }, meta());
      texts.push(...asked.texts);
      return { model, vectors: asked.texts.map((text) => Float32Array.of(text.length, 1)) };
    };
    worker().start();
    await reaches(documentId, 'Ready');
    const lengths = (await served(documentId)).map(({ vector }) => vector?.[0]);
    expect(texts.slice(-2).every((text) => text.startsWith('Bison > '))).toBe(true);
    expect(lengths).toEqual(texts.slice(-2).map(({ length }) => length));
  });
});
