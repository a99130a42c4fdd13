import { ids } from '../../../../test/fixtures/scripted-turns';
import { recorded } from '../../../../test/fixtures/recorded';
import { summaryIndexOver } from '../../../../test/fixtures/summary-index';
import { BuildEnded } from '../building/build';
import { sectionSummaryDecider } from '../section-summary/section-summary.decider';
import { summaryIndexDecider } from '../summary-index/summary-index.decider';
import { RemoveSummaries } from './remove-summaries.policy';

/** The index of an Agent over documents, which is built, and the policy that meets what happened only when it is told. */
const setUp = async (documents = 2) => {
  const set = await summaryIndexOver(documents);
  const { agentId, decisions, log, codec, blobs, parts, sources, says, start, run, tell } = set;
  const state = async (id: string) => (await decisions.load(sectionSummaryDecider, id)).state;
  const eventsOf = (type: string) => codec.decode(log.events.filter((event) => event.type === type));
  /** Summaries as views show them. */
  const shown = async () => {
    const all = (await eventsOf('SectionSummaryAdded')).map(({ context }) => context.stream.split(/-(.*)/)[1] ?? '');
    const found = await Promise.all(all.map(async (summaryId) => ({ summaryId, made: await state(summaryId) })));
    return found.flatMap(({ summaryId, made }) => (made.status === 'present' ? [{ summaryId, made }] : []));
  };
  const policy = new RemoveSummaries(decisions, log, parts.clock, blobs, {
    source: async (id) =>
      (await shown())
        .filter(({ made }) => made.documentIds.includes(id) || made.summaryIds.includes(id))
        .map(({ summaryId }) => summaryId),
    agent: async () => (await shown()).map(({ summaryId, made }) => ({ summaryId, build: made.build })),
  });
  /** Lets the policy meet the events of a type that are there, only now. */
  const meet = async (...types: readonly string[]) => {
    for (const type of types) for (const event of await eventsOf(type)) await policy.react(event);
  };
  const happens = async (stream: string, type: string) =>
    log.append(stream, [{ id: ids.next(), type, data: '{}', metadata: '{}' }], 'any');
  const documentIds = [...sources.keys()];
  /** A document was indexed with passages that it has or had, and this is met now, or late. */
  const indexed = async (documentId: string, passages: string, isLate = false) => {
    const position = isLate ? '0' : ((await log.head()) ?? '');
    await policy.react(recorded(`document-${documentId}`, 'DocumentIndexed', { passages }, { position, revision: 0 }));
  };
  /** Begins a build that is cancelled while its first summary is made, which stays. */
  const cutShort = async (mode: 'build' | 'rebuild') => {
    await start(mode);
    says.before = () => tell({ type: 'Cancel' });
    await expect(run()).rejects.toBeInstanceOf(BuildEnded);
    says.before = async () => undefined;
  };
  await set.build();
  const made = (await set.built()).nodes.map(({ id }) => id);
  const left = async () => (await shown()).map(({ summaryId }) => summaryId);
  return { ...set, agentId, policy, meet, happens, indexed, cutShort, documentIds, made, left, eventsOf };
};
let set: Awaited<ReturnType<typeof setUp>>;
beforeEach(async () => (set = await setUp()));

it('leaves what is made of what is there', async () => {
  const { meet, made, left } = set;
  await meet('SectionSummaryAdded', 'SummaryIndexBuilt');
  expect(await left()).toEqual(made);
});

it('removes the summaries of a deleted document up to the root, and no other', async () => {
  const { policy, meet, documentIds, made, left } = set;
  await policy.react(recorded(`document-${documentIds[0]}`, 'DocumentDeleted'));
  expect(await left()).toEqual(made.slice(1));
  await meet('SectionSummaryRemoved');
  expect(await left()).toEqual([made[1]]);
});

describe('a document that is indexed', () => {
  it('loses the summaries of text that it holds no more', async () => {
    const { add, indexed, documentIds, made, left } = set;
    await indexed(documentIds[0] ?? '', await add(documentIds[0] ?? '', 'Anew', 1));
    expect(await left()).toEqual(made.slice(1));
  });

  it('keeps those of text that it holds still', async () => {
    const { add, indexed, documentIds, made, left } = set;
    await indexed(documentIds[0] ?? '', await add(documentIds[0] ?? '', 'Document 0', 1));
    expect(await left()).toEqual(made);
  });

  it('keeps one that is made of what other documents hold, too', async () => {
    const { add, sources, build, built, indexed, documentIds, left } = set;
    for (const [index, documentId] of documentIds.entries()) await add(documentId, '', 1, [`Only ${index}`]);
    await build('rebuild');
    const [root] = (await built()).nodes;
    expect(root?.chunks).toHaveLength(2);
    await indexed(documentIds[0] ?? '', sources.get(documentIds[0] ?? '')?.passages ?? '');
    expect(await left()).toContain(root?.id);
  });

  it.each<[string, (documentId: string, passages: string) => unknown]>([
    ['its passages are gone again', (_, passages) => set.blobs.bodies.delete(passages)],
    ['the index was removed', () => set.tell({ type: 'Delete' })],
  ])('leaves all to what comes later, where %s by then', async (_, since) => {
    const { add, indexed, documentIds, made, left } = set;
    const passages = await add(documentIds[0] ?? '', 'Anew', 1);
    await since(documentIds[0] ?? '', passages);
    await indexed(documentIds[0] ?? '', passages);
    expect(await left()).toEqual(made);
  });

  it('leaves all to the next time that it is indexed', async () => {
    const { add, indexed, happens, documentIds, made, left } = set;
    const stream = `document-${documentIds[0]}`;
    await happens(stream, 'DocumentIndexed');
    await happens(stream, 'DocumentIndexed');
    await indexed(documentIds[0] ?? '', await add(documentIds[0] ?? '', 'Anew', 1));
    expect(await left()).toEqual(made);
  });

  it('keeps what was made since, where this is met late', async () => {
    const { add, indexed, documentIds, made, left } = set;
    await indexed(documentIds[0] ?? '', await add(documentIds[0] ?? '', 'Before', 1), true);
    expect(await left()).toEqual(made);
  });
});

it('removes the index and the summaries of a deleted Agent', async () => {
  const { policy, agentId, decisions, left } = set;
  await policy.react(recorded(`agent-${agentId}`, 'AgentDeleted'));
  expect(await left()).toEqual([]);
  expect((await decisions.load(summaryIndexDecider, agentId)).state.status).toBe('deleted');
});

describe('a summary that is added too late goes', () => {
  it.each<[string, () => Promise<unknown>, number]>([
    ['its Agent was deleted', () => set.happens(`agent-${set.agentId}`, 'AgentDeleted'), 3],
    ['its Space was deleted', () => set.happens(`space-${set.spaceId}`, 'SpaceDeleted'), 3],
    ['the index was deleted', () => set.tell({ type: 'Delete' }), 3],
    // And the root with it.
    ['a document was deleted', () => set.happens(`document-${set.documentIds[1]}`, 'DocumentDeleted'), 2],
    ['a summary below was removed', () => set.remove(set.made[0] ?? ''), 2],
  ])('where %s', async (_, happened, gone) => {
    const { meet, made, left } = set;
    await happened();
    await meet('SectionSummaryAdded');
    expect(await left()).toHaveLength(made.length - gone);
  });

  it('where it is of a build before the last rebuild, unless the index names it', async () => {
    const { meet, add, cutShort, start, made, left } = set;
    await add(ids.next(), 'Another');
    await cutShort('build');
    const unnamed = (await left()).filter((id) => !made.includes(id));
    expect(unnamed).toHaveLength(1);
    await start('rebuild');
    await meet('SectionSummaryAdded');
    expect(await left()).toEqual(made);
  });
});

describe('an index that was built', () => {
  it('leaves nothing of the one before, nor of builds that came to no end', async () => {
    const { meet, index, build, built, cutShort, add, blobs, left } = set;
    const before = (await index()).live?.hierarchy ?? '';
    await add(ids.next(), 'Another');
    await cutShort('build');
    const named = (await build('rebuild')).nodes.map(({ id }) => id);
    await meet('SummaryIndexBuilt');
    expect(await left()).toEqual(named);
    expect(blobs.bodies.has(before)).toBe(false);
    expect((await built()).nodes).toHaveLength(named.length);
  });

  it('leaves what the next build has made so far', async () => {
    const { meet, cutShort, made, left } = set;
    await cutShort('rebuild');
    await meet('SummaryIndexBuilt');
    expect(await left()).toHaveLength(made.length + 1);
  });

  it('is left to what comes later, where its hierarchy is gone by then', async () => {
    const { meet, index, blobs, made, left } = set;
    blobs.bodies.delete((await index()).live?.hierarchy ?? '');
    await meet('SummaryIndexBuilt');
    expect(await left()).toEqual(made);
  });
});

it('removes with an index all that was built until then, and nothing of the build after it', async () => {
  const { meet, index, tell, cutShort, blobs, made, left } = set;
  const hierarchy = (await index()).live?.hierarchy ?? '';
  await tell({ type: 'Remove' });
  await cutShort('build');
  expect(await left()).toHaveLength(made.length + 1);
  await meet('SummaryIndexRemoved');
  expect(await left()).toHaveLength(1);
  expect(made).not.toContain((await left())[0]);
  expect(blobs.bodies.has(hierarchy)).toBe(false);
});

it('hears of all that leaves summaries behind', () =>
  expect([...set.policy.types].toSorted()).toEqual([
    'AgentDeleted',
    'DocumentDeleted',
    'DocumentIndexed',
    'SectionSummaryAdded',
    'SectionSummaryRemoved',
    'SummaryIndexBuilt',
    'SummaryIndexRemoved',
  ]));
