import { EVENT_LOG, type EventLog } from '@app/event-log';
import { Policies, type Policy } from '@app/projecting';
import type { Type } from '@nestjs/common';
import { RemoveSupersededBlobs } from '../../libs/knowledge/src/policies/remove-superseded-blobs.policy';
import { RemoveSummaries } from '../../libs/section-summaries/src/policies/remove-summaries.policy';
import { filesWhere } from '../fixtures/files-under';
import { ownTime } from '../fixtures/own-time';
import { bookOf, sectionOf } from '../fixtures/summariser-double';
import { until } from '../fixtures/until';
import { makeSummariesWorld, type SummariesWorld } from './summaries-world';

const CORE = '/api/v1/core';
/** What was made of a document is gone this long after it, milliseconds. */
const GONE_WITHIN_MS = 10_000;
let world: SummariesWorld;

beforeAll(async () => {
  world = await makeSummariesWorld();
});
afterAll(() => world.stop());

interface Hit {
  readonly documentId: string;
  readonly summary?: { readonly id: string; readonly text: string };
}

const call = <T>(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object, key?: string) =>
  world.platform.call<T>(CORE + path, {
    method,
    ...(body === undefined ? {} : { body }),
    ...(key === undefined ? {} : { key }),
  });
const search = async (agentId: string, query: string) =>
  (await call<{ items: Hit[] }>('POST', `/knowledge/${agentId}/search`, { query, topK: 50 })).body.items;
const shownTexts = (hits: readonly Hit[]): readonly string[] => hits.flatMap(({ summary }) => summary?.text ?? []);
interface AuditedEvent {
  readonly stream: string;
  readonly data: { readonly eventType?: string; readonly stream?: string };
}
const events = async (type: string): Promise<readonly AuditedEvent[]> => {
  const found: AuditedEvent[] = [];
  for (let cursor: string | null = null; ;) {
    const more: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { body } = await world.platform.call<{ items: AuditedEvent[]; nextCursor: string | null }>(
      `/api/v1/audit/events?type=${type}&limit=100${more}`,
    );
    found.push(...body.items);
    if (body.nextCursor === null) return found;
    cursor = body.nextCursor;
  }
};
/** Streams of summaries that were erased, by their receipts. */
const erased = async (): Promise<ReadonlySet<string>> =>
  new Set(
    (await events('ContentErased'))
      .filter(({ data }) => data.eventType === 'SectionSummaryRemoved')
      .map(({ data }) => data.stream ?? ''),
  );
const streamsOfSummaries = async (): Promise<readonly string[]> =>
  (await events('SectionSummaryAdded')).map(({ stream }) => stream);
const blobs = () => world.platform.platform.host.stores.blobs.list(null, 1_000);
const onDisk = (word: string): readonly string[] =>
  filesWhere(world.platform.dataDir, (bytes) => bytes.toString('latin1').toLowerCase().includes(word));
/** Keeps policies from all that happens, until what is returned is called; that resolves once they have met it. */
const holding = (...types: readonly Type<Policy>[]): (() => Promise<void>) => {
  const { app } = world.platform.platform;
  const held = types.map((type) => app.get(type));
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const policy of held) {
    const react = policy.react.bind(policy);
    policy.react = async (event) => {
      await promise;
      await react(event);
    };
  }
  return async () => {
    resolve();
    const head = (await app.get<EventLog>(EVENT_LOG).head()) ?? '';
    const names = held.map(({ name }) => name);
    await until(async () => {
      const ours = (await app.get(Policies).status()).filter(({ name }) => names.includes(name));
      return ours.every(({ position }) => position !== null && position >= head);
    }, 'the policies to meet what happened');
  };
};
const deleteDocument = (agentId: string, documentId: string) =>
  call('DELETE', `/knowledge/${agentId}/documents/${documentId}`);

describe('summaries are erased', () => {
  it('with a document that they were made of, up to the root, and those of others stay', async () => {
    const agentId = await world.newAgent({ includeAiSummary: true });
    const gone = await world.add(agentId, 'quokka.md', bookOf('quokka', 8));
    await world.add(agentId, 'wombat.md', bookOf('wombat', 8));
    const built = await world.built(agentId);
    const streams = new Set(await streamsOfSummaries());
    expect(streams.size).toBe(built.summaries);
    expect(shownTexts(await search(agentId, 'habit of the quokka')).join()).toContain('quokka');

    const took = ownTime();
    expect((await deleteDocument(agentId, gone)).status).toBe(204);
    expect(shownTexts(await search(agentId, 'habit')).join()).not.toContain('quokka');
    await until(async () => onDisk('quokka').length === 0, 'the end of its words on disk');
    await until(async () => (await erased()).size > 2, 'the receipts');
    expect(took()).toBeLessThan(GONE_WITHIN_MS);

    const left = await world.index(agentId);
    expect(left.state).toBe('ready');
    expect(left.summaries).toBeGreaterThan(0);
    await until(
      async () => (await world.index(agentId)).summaries === streams.size - (await erased()).size,
      'the rest',
    );
    expect(shownTexts(await search(agentId, 'habit of the wombat')).join()).toContain('wombat');

    // The next build fills in what is missing above those that stayed.
    const again = await world.built(agentId);
    expect(again.state).toBe('ready');
    expect(again.summaries).toBeLessThan(built.summaries);
    expect(onDisk('quokka')).toEqual([]);
  });

  it('with the text that they were made of, when that is replaced', async () => {
    const agentId = await world.newAgent({ includeAiSummary: true });
    const content = bookOf('potoroo', 6);
    const documentId = await world.add(agentId, 'potoroo.md', `${content}\n\n${sectionOf('kowari', 7)}`);
    const { summaries } = await world.built(agentId);
    const took = ownTime();
    await world.replace(agentId, documentId, content);
    await until(async () => (await world.index(agentId)).summaries < summaries, 'the end of the summary');
    await until(() => onDisk('kowari').length === 0, 'the end of its words on disk');
    expect(took()).toBeLessThan(GONE_WITHIN_MS);
    expect((await world.index(agentId)).summaries).toBeGreaterThan(summaries / 2);
    const asked = world.model.summarised.length;
    await world.built(agentId);
    expect(world.model.summarised.length - asked).toBeLessThan(summaries / 2);
  });

  it('never where they are of the present text, and what was indexed before it is met late', async () => {
    const agentId = await world.newAgent({ includeAiSummary: true });
    const content = bookOf('bilby', 6);
    const letGo = holding(RemoveSummaries, RemoveSupersededBlobs);
    const documentId = await world.add(agentId, 'bilby.md', content);
    await world.replace(agentId, documentId, `${content}\n\n${sectionOf('dunnart', 7)}`);
    const { summaries } = await world.built(agentId);
    const removed = (await events('SectionSummaryRemoved')).length;
    await letGo();
    expect([(await events('SectionSummaryRemoved')).length, (await world.index(agentId)).summaries]).toEqual([
      removed,
      summaries,
    ]);
  });

  it('never where the index has them and a rebuild was begun and cancelled since, and they are met late', async () => {
    const agentId = await world.newAgent({ includeAiSummary: true });
    await world.add(agentId, 'quoll.md', bookOf('quoll', 6));
    const letGo = holding(RemoveSummaries);
    const { summaries } = await world.built(agentId);
    world.model.hold = true;
    expect((await world.build(agentId, 'rebuild')).status).toBe(202);
    expect((await world.end(agentId)).status).toBe(204);
    world.model.release();
    await letGo();
    expect(await world.index(agentId)).toMatchObject({ state: 'ready', summaries });
  });

  it('with the index, and with what replaced them', async () => {
    const agentId = await world.newAgent({ includeAiSummary: true });
    await world.add(agentId, 'numbat.md', bookOf('numbat', 6));
    const before = new Set(await blobs());
    const known = new Set(await streamsOfSummaries());
    await world.built(agentId);
    await world.built(agentId, 'rebuild');
    const own = (await streamsOfSummaries()).filter((stream) => !known.has(stream));
    const { summaries } = await world.index(agentId);
    const left = async () => {
      const receipts = await erased();
      return own.filter((stream) => !receipts.has(stream)).length;
    };
    await until(async () => (await left()) === summaries, 'the end of those that were replaced');
    expect(shownTexts(await search(agentId, 'numbat'))).not.toEqual([]);
    expect((await world.end(agentId, { purge: true })).status).toBe(204);
    expect(shownTexts(await search(agentId, 'numbat'))).toEqual([]);
    await until(async () => (await left()) === 0, 'the end of all');
    await until(async () => (await blobs()).every((name) => before.has(name)), 'the end of their blobs');
    expect(await world.index(agentId)).toMatchObject({ state: 'absent', summaries: 0 });
    expect(await world.built(agentId)).toMatchObject({ state: 'ready', summaries });
  });

  it('with their Agent, while they are built', async () => {
    const agentId = await world.newAgent({ includeAiSummary: true });
    const other = await world.newAgent();
    await world.add(other, 'bilby.md', bookOf('bilby', 8), 'space');
    const known = new Set(await streamsOfSummaries());
    await world.build(agentId);
    const own = async () => (await streamsOfSummaries()).filter((stream) => !known.has(stream));
    await until(async () => (await own()).length > 1, 'the first summaries');
    expect((await call('DELETE', `/agents/${agentId}`)).status).toBe(204);
    const indexes = async () =>
      (await events('ContentErased')).filter(({ data }) => data.eventType === 'SummaryIndexDeleted');
    await until(async () => {
      const receipts = await erased();
      return (await own()).every((stream) => receipts.has(stream)) && (await indexes()).length > 0;
    }, 'the end of all');
    expect((await indexes()).map(({ data }) => data.stream)).toEqual([`summaryIndex-${agentId}`]);
  });
});

describe('summaries are shown to those alone who may see what they are made of', () => {
  it('and built by editors', async () => {
    const { platform, spaceId } = world;
    const agentId = await world.newAgent({ includeAiSummary: true });
    await world.add(agentId, 'dingo.md', bookOf('dingo', 4));
    const path = `/knowledge/${agentId}/summary-index`;
    const viewer = await platform.newCaller();
    const stranger = await platform.newCaller();
    await call('PUT', `/spaces/${spaceId}/members/${viewer.userId}`, { role: 'viewer' });
    const statuses = async (key: string, at: string) => [
      (await call('GET', at, undefined, key)).status,
      (await call('POST', at, { mode: 'build' }, key)).status,
      (await call('DELETE', `${at}?purge=true`, undefined, key)).status,
    ];
    expect(await statuses(viewer.key, path)).toEqual([200, 403, 403]);
    expect(await statuses(stranger.key, path)).toEqual([404, 404, 404]);
    const unknown = `/knowledge/${crypto.randomUUID()}/summary-index`;
    const [foreign, missing] = [
      await call('GET', path, undefined, stranger.key),
      await call('GET', unknown, undefined, stranger.key),
    ];
    expect(foreign.text.replaceAll(agentId, 'x').replace(/"(requestId|instance)":"[^"]*"/g, '')).toBe(
      missing.text.replaceAll(unknown.split('/')[2] ?? '', 'x').replace(/"(requestId|instance)":"[^"]*"/g, ''),
    );
    expect((await world.index(agentId)).state).toBe('absent');
    for (const body of [{ mode: 'fast' }, { mode: 'build', force: true }, { mode: null }])
      expect((await call('POST', path, body)).status).toBe(400);
    expect((await call('DELETE', `${path}?purge=perhaps`)).status).toBe(400);
  });

  it('never in another Space, nor by another Agent', async () => {
    const { platform } = world;
    const mine = await world.newAgent({ includeAiSummary: true });
    await world.add(mine, 'taipan.md', bookOf('taipan', 4));
    await world.built(mine);
    const foreignSpace = (await call<{ id: string }>('POST', '/spaces', { name: 'Aquarium' })).body.id;
    for (const fields of [{}, { spaceId: foreignSpace }]) {
      const asked = world.model.summarised.length;
      const agentId = await world.newAgent({ includeAiSummary: true, ...fields });
      await world.add(agentId, 'seal.md', bookOf('seal', 4));
      await world.built(agentId);
      expect(world.model.summarised.slice(asked).join()).not.toContain('taipan');
      expect(shownTexts(await search(agentId, 'habit of the taipan')).join()).not.toContain('taipan');
    }
    expect((await platform.call('/metrics')).text).not.toContain('taipan');
  });
});
