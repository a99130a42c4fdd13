import { Unavailable } from '@app/kernel';
import { type SummaryIndexOver, summaryIndexOver } from '../../../../test/fixtures/summary-index';
import type { SourceDocument } from '../lookups';
import { sectionSummaryDecider } from '../section-summary/section-summary.decider';
import { BuildEnded } from './build';
import { MOST_IN_CLUSTER } from './clusters';

const firstOf = ({ sources }: SummaryIndexOver): SourceDocument => [...sources.values()][0] as SourceDocument;

describe('a build of a section-summary index', () => {
  it('makes a summary of each document and one of them all', async () => {
    const set = await summaryIndexOver(2);
    const { nodes, documents } = await set.build();
    expect(nodes.map(({ level }) => level)).toEqual([1, 1, 2]);
    expect(Object.keys(documents)).toEqual([...set.sources.keys()]);
    const { state: first } = await set.decisions.load(sectionSummaryDecider, nodes[0]?.id as string);
    expect(first).toMatchObject({ documentIds: [firstOf(set).documentId], summaryIds: [] });
    expect(set.asked).toEqual([
      'Document 0 first + Document 0 last',
      'Document 1 first + Document 1 last',
      'Summary 1 + Summary 2',
    ]);
  });

  it.each<[string, (set: SummaryIndexOver) => unknown]>([
    ['gets new content', (set) => set.add(firstOf(set).documentId, 'Document 0 anew', 7)],
    ['gets other passages of the same content', (set) => set.add(firstOf(set).documentId, 'Document 0 anew', 0)],
    [
      'is ingested again with the same passages',
      (set) => set.sources.set(firstOf(set).documentId, { ...firstOf(set), revision: 7 }),
    ],
    ['is deleted', (set) => set.sources.delete(firstOf(set).documentId)],
  ])(
    'ends with what is there when a document %s while it runs, and makes no summary of others again',
    async (_, happens) => {
      const set = await summaryIndexOver(2);
      set.says.before = async (call) => (call === 2 ? happens(set) : undefined);
      const { documents, passages } = await set.build();
      const now = [...set.sources.values()];
      expect(documents).toEqual(Object.fromEntries(now.map(({ documentId, revision }) => [documentId, revision])));
      expect(passages).toEqual(Object.fromEntries(now.map(({ documentId, passages: name }) => [documentId, name])));
      expect(set.asked.filter((text) => text.startsWith('Document 1'))).toHaveLength(1);
    },
  );

  it('waits for the passages of a document that is being indexed anew, and comes to its end without them if they stay away', async () => {
    const set = await summaryIndexOver(2);
    const { passages, documentId } = firstOf(set);
    const body = set.blobs.bodies.get(passages) as Buffer;
    set.blobs.bodies.delete(passages);
    set.says.before = async () => set.blobs.bodies.set(passages, body);
    expect(Object.keys((await set.build()).documents)).toContain(documentId);

    set.blobs.bodies.delete(passages);
    set.says.before = async () => undefined;
    expect(Object.keys((await set.build()).documents)).toEqual([[...set.sources.keys()][1]]);
  });

  it('comes to its end though documents change all the time', async () => {
    const set = await summaryIndexOver(2);
    set.says.before = (call) => set.add(firstOf(set).documentId, `Document 0 as of ${call}`, call);
    await set.build();
    expect(await set.index()).toMatchObject({ running: null, live: { build: 1 } });
  });

  it('makes no summary again of what is as it was, but all of them where that is asked for', async () => {
    const set = await summaryIndexOver(2);
    const before = await set.build();
    set.asked.length = 0;
    expect((await set.build()).nodes).toEqual(before.nodes);
    expect(set.asked).toEqual([]);
    const anew = await set.build('rebuild');
    expect(set.asked).toHaveLength(3);
    expect(anew.nodes.some(({ id }) => before.nodes.some((old) => old.id === id))).toBe(false);
  });

  it('goes on behind the last summary where the process before died, or the build was cancelled', async () => {
    const set = await summaryIndexOver(2);
    await set.start();
    set.says.before = (call) => (call === 2 ? Promise.reject(new Error('it died')) : Promise.resolve());
    await expect(set.run()).rejects.toThrow('it died');
    set.says.before = (call) => (call === 4 ? set.tell({ type: 'Cancel' }) : Promise.resolve());
    await set.run();
    expect((await set.index()).live).toBeNull();
    await set.build();
    expect(set.asked).toHaveLength(4);
  });

  it('makes a summary again that was removed, under another id', async () => {
    const set = await summaryIndexOver(2);
    const [first] = (await set.build()).nodes;
    await set.remove(first?.id as string);
    set.asked.length = 0;
    const [again] = (await set.build()).nodes;
    expect(again?.id).not.toBe(first?.id);
    expect(set.asked[0]).toBe('Document 0 first + Document 0 last');
  });

  it('uses no summary of an index before the last, which are being removed', async () => {
    const set = await summaryIndexOver(1);
    const { documentId } = firstOf(set);
    const [old] = (await set.build()).nodes;
    await set.add(documentId, 'Document 0 anew', 1);
    await set.build();
    await set.add(documentId, 'Document 0', 2);
    const [now] = (await set.build()).nodes;
    expect(now?.children).toEqual(old?.children);
    expect(now?.id).not.toBe(old?.id);
  });

  it.each<[string, (set: SummaryIndexOver) => Promise<unknown>]>([
    ['is cancelled', ({ tell }) => tell({ type: 'Cancel' })],
    ['is cancelled and begun anew', ({ tell, start }) => tell({ type: 'Cancel' }).then(() => start())],
  ])('asks no model any more once it %s', async (_, happens) => {
    const set = await summaryIndexOver(2);
    await set.start();
    set.says.before = (call) => (call === 1 ? happens(set) : Promise.resolve());
    await expect(set.run()).rejects.toBeInstanceOf(BuildEnded);
    expect(set.asked).toHaveLength(1);
  });

  it('leaves no body behind where it was cancelled just before its end', async () => {
    const set = await summaryIndexOver(1);
    await set.start();
    const put = set.blobs.put.bind(set.blobs);
    const before = set.blobs.bodies.size;
    set.blobs.put = async (...given) => {
      await set.tell({ type: 'Cancel' });
      return put(...given);
    };
    await set.run();
    expect(set.blobs.bodies.size).toBe(before);
  });

  it.each<['Complete' | 'Embed', 'none' | 'unknown', number]>([
    ['Complete', 'none', 0],
    ['Complete', 'unknown', 1],
    ['Embed', 'none', 0],
    ['Embed', 'unknown', 1],
  ])(
    'whose %s the log does not confirm keeps a body that an event may name: outcome %s, %i of it',
    async (type, outcome, kept) => {
      const set = await summaryIndexOver(MOST_IN_CLUSTER + 1);
      await set.start();
      const stored: number[] = [];
      const transact = set.decisions.transact.bind(set.decisions);
      jest.spyOn(set.decisions, 'transact').mockImplementation((decider, id, command, given) => {
        // Every decider here has commands with a type.
        if ((command as { readonly type: string }).type !== type) return transact(decider, id, command, given);
        stored.push(set.blobs.bodies.size);
        throw new Unavailable('log', 'no answer', outcome);
      });
      await expect(set.run()).rejects.toMatchObject({ outcome });
      expect(stored).toEqual([set.blobs.bodies.size + 1 - kept]);
    },
  );

  it('leaves no vector behind of a summary that is removed while it is embedded', async () => {
    const set = await summaryIndexOver(MOST_IN_CLUSTER + 1);
    await set.start();
    const put = set.blobs.put.bind(set.blobs);
    const removed: string[] = [];
    set.blobs.put = async (stream, body) => {
      const { name, size } = await put(stream, body);
      if (removed.length === 0 && stream.startsWith('sectionSummary-')) {
        removed.push(name);
        await set.remove(stream.slice('sectionSummary-'.length));
      }
      return { name, size };
    };
    await set.run();
    expect(removed.map((name) => set.blobs.bodies.has(name))).toEqual([false]);
  });

  it('embeds each summary once for a model, unless its vector is gone, where there are more than one summary is made of', async () => {
    const set = await summaryIndexOver(MOST_IN_CLUSTER + 1);
    const { nodes } = await set.build();
    const first = set.embedded.filter((text) => text.startsWith('Summary'));
    expect(new Set(first).size).toBe(first.length);
    expect(first.length).toBeGreaterThan(MOST_IN_CLUSTER);
    await set.build();
    expect(set.embedded).toHaveLength(first.length);
    const { state: one } = await set.decisions.load(sectionSummaryDecider, nodes[0]?.id as string);
    if (one.status === 'present' && one.vector !== null) set.blobs.bodies.delete(one.vector.blob);
    await set.build();
    expect(set.embedded.slice(first.length)).toEqual(['Summary 1']);
    set.says.embeddingModel = 'other';
    await set.build();
    expect(set.embedded).toHaveLength(2 * first.length + 1);
  });
});
