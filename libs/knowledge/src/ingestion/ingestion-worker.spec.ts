import { DomainError, Unavailable } from '@app/kernel';
import { decodePassages } from '@app/search-index';
import type { CallToMeter } from '@app/spending';
import { unmetered } from '../../../../test/fixtures/scripted-turns';
import { until } from '../../../../test/fixtures/until';
import { documentDecider } from '../document/document.decider';
import { running, TEXT, withIngestion } from '../../../../test/fixtures/ingesting';

withIngestion();

describe('ingestion', () => {
  it('reads, cuts, embeds, stores and publishes', async () => {
    const { worker, add, reaches, stateOf, blobs, types, log } = running;
    const documentId = await add();
    worker().offer(documentId);
    await reaches(documentId, 'Ready');
    expect(types()).toEqual(['Added', 'ProcessingStarted', 'Extracted', 'Chunked', 'Embedded', 'Indexed', 'Ready']);
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
    type Report = { step: string; produced: number };
    const reports = log.events.flatMap(({ data }) => {
      const { report, steps = [] } = JSON.parse(data) as { report?: Report; steps?: Report[] };
      return report === undefined ? steps : [report];
    });
    expect(reports.map(({ step, produced }) => [step, produced])).toEqual([
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
    ['application/pdf', '%PDF-1.7', 'malformed'],
    ['application/zip', 'PK\u0003\u0004', 'malformed'],
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
      { userId: '1', kind: 'embedding', estimate: { inputTokens: 17 } },
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
      waiting.set(documentId, { documentId, spaceId: '', userId: '', notBefore: retryAt });
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
    expect(types().slice(-2)).toEqual(['Indexed', 'ProcessingFailed']);
  });

  it('keeps what an event names whose answer was lost', async () => {
    const { worker, add, reaches, log, blobs, stateOf } = running;
    const documentId = await add();
    const append = log.append.bind(log);
    let lost = 0;
    log.append = async (stream, events, expected) => {
      const receipt = await append(stream, events, expected);
      if (lost > 0 || !events.some(({ type }) => type === 'DocumentIndexed')) return receipt;
      lost += 1;
      throw new Unavailable('log', 'its answer was lost', 'unknown');
    };
    worker().start();
    await reaches(documentId, 'Ready');
    const state = await stateOf(documentId);
    const indexed = 'indexed' in state ? state.indexed : null;
    expect([lost, blobs.bodies.has(indexed?.passages ?? '')]).toEqual([1, true]);
  });

  it.each(['before', 'while the index takes it'])('is Ready though no search finds it, disabled %s', async (when) => {
    const { worker, add, reaches, search, decisions, meta, stateOf } = running;
    search.reached = false;
    const documentId = await add();
    const disable = () => decisions.transact(documentDecider, documentId, { type: 'Update', enabled: false }, meta());
    if (when === 'before') await disable();
    else search.asked = disable;
    worker().offer(documentId);
    await reaches(documentId, 'Ready');
    expect(await stateOf(documentId)).toMatchObject({ enabled: false });
  });

  it('is looked for again where it was disabled and enabled while the index took it', async () => {
    const { worker, add, reaches, search, decisions, meta } = running;
    search.reached = false;
    const documentId = await add();
    search.asked = async () => {
      search.asked = undefined;
      for (const enabled of [false, true])
        await decisions.transact(documentDecider, documentId, { type: 'Update', enabled }, meta());
      search.reached = true;
      return false;
    };
    worker().offer(documentId);
    await reaches(documentId, 'Ready');
  });

  it('fails where the search index does not take it, also after it was disabled and enabled meanwhile', async () => {
    const { worker, add, reaches, search, decisions, meta } = running;
    search.reached = false;
    const documentId = await add();
    search.asked = async () => {
      search.asked = undefined;
      for (const enabled of [false, true])
        await decisions.transact(documentDecider, documentId, { type: 'Update', enabled }, meta());
    };
    worker().offer(documentId);
    await reaches(documentId, 'Failed');
  });

  it('waits no more for searches to find a document that is deleted meanwhile', async () => {
    const { worker, add, search, decisions, meta, types, warnings } = running;
    search.reached = false;
    const documentId = await add();
    let asked = 0;
    search.asked = async () => {
      asked += 1;
      if (asked === 1) await decisions.transact(documentDecider, documentId, { type: 'Delete' }, meta());
    };
    const ingesting = worker();
    ingesting.offer(documentId);
    await until(() => types().includes('Deleted') && ingesting.busy === 0);
    expect([asked, warnings]).toEqual([1, []]);
  });

  it('leaves nothing of a document that is deleted meanwhile, and warns of nothing', async () => {
    const { worker, warnings, add, decisions, meta, embedding, blobs, types, log } = running;
    const documentId = await add();
    const file = [...blobs.bodies.keys()];
    embedding.embed = async ({ model, texts }) => {
      await decisions.transact(documentDecider, documentId, { type: 'Delete' }, meta());
      return { model, vectors: texts.map(() => Float32Array.of(1)) };
    };
    const ingesting = worker();
    ingesting.offer(documentId);
    await until(() => types().includes('Deleted') && ingesting.busy === 0);
    expect(types()).toEqual(['Added', 'ProcessingStarted', 'Extracted', 'Chunked', 'Deleted']);
    expect(warnings).toEqual([]);
    // The deletion names what was stored before it; erasure removes that.
    const { blobs: named } = JSON.parse(log.events.at(-1)?.data ?? '') as { blobs: string[] };
    expect([...blobs.bodies.keys()].toSorted()).toEqual(named.toSorted());
    expect(named).toEqual(expect.arrayContaining(file));
  });
});
