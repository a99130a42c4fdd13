import { type Blobs, discardBodies } from '@app/blobs';
import {
  type Clock,
  type CommandMeta,
  type Decisions,
  type Ids,
  isUnavailable,
  renewReadScope,
  streamOf,
} from '@app/kernel';
import type { SourceDocument, SummarySources } from '../lookups';
import { type PresentIndex, type RunningBuild, summaryIndexDecider } from '../summary-index/summary-index.decider';
import { type Chunk, chunksOf } from './chunks';
import { clustersOf, MOST_IN_CLUSTER } from './clusters';
import { likelyClusters, likelySections } from './estimate';
import { encodeHierarchy, type Hierarchy, hierarchyOf, type HierarchyNode, levelsOf, parentsIn } from './hierarchy';
import { ModelCalls, type ModelCallParts } from './model-calls';
import { sectionsOf } from './sections';
import { Summaries } from './summaries';

/** How often a build begins again because documents changed under it. What it has made by then is used again. */
const MOST_ROUNDS = 3;

export interface BuildParts extends ModelCallParts {
  readonly decisions: Pick<Decisions, 'load' | 'transact'>;
  readonly blobs: Pick<Blobs, 'put' | 'get' | 'remove'>;
  readonly sources: SummarySources;
  readonly ids: Ids;
  readonly clock: Clock;
  /** Hears how many summaries there are, of about how many. */
  readonly progress: (agentId: string, build: number, done: number, total: number) => Promise<void>;
}

type BuiltIndex = PresentIndex & { readonly running: RunningBuild };

/** A summary of the level that is being clustered, or the only chunk of a document. */
interface Item {
  readonly id: string;
  readonly level: number;
  /** Set for a chunk. */
  readonly chunk?: Chunk;
  readonly vector?: Float32Array | undefined;
}

/**
 * Builds the section-summary index of an Agent from where it stands: makes the summaries that are missing, one after the other, each
 * stored before the next is begun, and puts the whole hierarchy in the place of the one before in one event. Killed anywhere it can be
 * started again, and makes one call of a model again at most. Returns early where the build was cancelled.
 */
export const buildIndex = async (parts: BuildParts, agentId: string, signal: AbortSignal): Promise<void> => {
  const { state } = await parts.decisions.load(summaryIndexDecider, agentId);
  if (state.status !== 'present' || state.running === null) return;
  const index: BuiltIndex = { ...state, running: state.running };
  const before = await hierarchyOf(parts.blobs, index);
  for (let round = 1; ; round += 1) {
    const documents = await parts.sources.of(index);
    const hierarchy = await new Build(parts, index, before, signal).run(documents);
    if (round < MOST_ROUNDS && !(await isUnchanged(parts.sources, index, documents, hierarchy))) continue;
    return complete(parts, index, hierarchy);
  }
};

/** Whether everything that was to be read could be read, and is there still as it was read. */
const isUnchanged = async (
  sources: SummarySources,
  index: BuiltIndex,
  documents: readonly SourceDocument[],
  hierarchy: Hierarchy,
): Promise<boolean> => {
  if (documents.some(({ documentId }) => hierarchy.documents[documentId] === undefined)) return false;
  const ids = documents.map(({ documentId }) => documentId);
  const ready = await sources.ready(index, ids);
  return documents.every(({ documentId, revision, passages }) => {
    const now = ready.get(documentId);
    return now?.revision === revision && now.passages === passages;
  });
};

const complete = async (parts: BuildParts, index: BuiltIndex, hierarchy: Hierarchy): Promise<void> => {
  const { agentId, spaceId, running } = index;
  const stream = streamOf(summaryIndexDecider.category, agentId);
  const { name } = await parts.blobs.put(stream, encodeHierarchy(hierarchy), { spaceId });
  const command = {
    type: 'Complete' as const,
    build: running.build,
    hierarchy: name,
    levels: levelsOf(hierarchy),
    summaries: hierarchy.nodes.length,
  };
  try {
    const receipt = await parts.decisions.transact(summaryIndexDecider, agentId, command, builderMeta(parts));
    if (receipt.eventIds.length > 0) return;
  } catch (error) {
    // An event may name it.
    if (!(isUnavailable(error) && error.outcome === 'unknown')) await discardBodies(parts.blobs, [name]);
    throw error;
  }
  await discardBodies(parts.blobs, [name]);
};

/** The meta of what builds say in the log. */
export const builderMeta = ({ ids, clock }: Pick<BuildParts, 'ids' | 'clock'>): CommandMeta => {
  const commandId = ids.next();
  return { commandId, correlationId: commandId, actor: 'system:section-summaries', now: clock.now() };
};

/** One pass over all documents, from their sections up to the root. */
class Build {
  private readonly nodes: HierarchyNode[] = [];
  private readonly documents: Record<string, number> = {};
  private readonly passages: Record<string, string> = {};
  private readonly summaries: Summaries;
  private readonly clusterBefore: ReadonlyMap<string, string>;
  private total = 0;

  constructor(
    private readonly parts: BuildParts,
    private readonly index: BuiltIndex,
    before: Hierarchy,
    private readonly signal: AbortSignal,
  ) {
    const { agentId, spaceId, running } = index;
    const live = new Set(before.nodes.map(({ id }) => id));
    this.clusterBefore = running.mode === 'rebuild' ? new Map() : parentsIn(before);
    const calls = new ModelCalls(parts, { ...running.askedBy, agentId, spaceId }, signal);
    this.summaries = new Summaries({ ...parts, meta: () => builderMeta(parts) }, index, live, calls);
  }

  async run(documents: readonly SourceDocument[]): Promise<Hierarchy> {
    const things = documents.map(({ chunkCount }) => Math.max(likelySections(chunkCount), Math.min(chunkCount, 1)));
    const items = things.reduce((sum, count) => sum + count, 0);
    const sections = documents.reduce((sum, { chunkCount }) => sum + likelySections(chunkCount), 0);
    this.total = likelyClusters(items).reduce((sum, count) => sum + count, sections);
    await this.show();
    let level: readonly Item[] = (await this.sections(documents)).flat();
    while (level.length > 1) level = await this.clustered(level);
    this.total = this.nodes.length;
    await this.show();
    return { documents: this.documents, passages: this.passages, nodes: this.nodes };
  }

  private async sections(documents: readonly SourceDocument[]): Promise<readonly (readonly Item[])[]> {
    const sections: (readonly Item[])[] = [];
    for (const document of documents) sections.push(await this.sectionsOf(document));
    return sections;
  }

  private async sectionsOf(document: SourceDocument): Promise<readonly Item[]> {
    this.signal.throwIfAborted();
    const chunks = await chunksOf(this.parts.blobs, document);
    if (chunks === undefined) return [];
    this.documents[document.documentId] = document.revision;
    this.passages[document.documentId] = document.passages;
    const [only] = chunks;
    if (only !== undefined && chunks.length === 1)
      return [{ id: only.key, level: 0, chunk: only, vector: only.vector }];
    const sections: Item[] = [];
    for (const section of sectionsOf(chunks))
      sections.push(await this.summarised(section.map((chunk) => ({ id: chunk.key, level: 0, chunk }))));
    return sections;
  }

  /** The next level: summaries of what is alike, and what nothing was like as it is. */
  private async clustered(items: readonly Item[]): Promise<readonly Item[]> {
    const ids = items.filter(({ chunk }) => chunk === undefined).map(({ id }) => id);
    const isOne = items.length <= MOST_IN_CLUSTER;
    const vectors = isOne ? new Map<string, Float32Array>() : await this.summaries.vectors(ids);
    const clusters = await clustersOf(
      items.map((item) => ({ ...item, vector: vectors.get(item.id) ?? item.vector })),
      (id) => this.clusterBefore.get(id),
    );
    const level: Item[] = [];
    for (const cluster of clusters)
      level.push(cluster.length === 1 && cluster[0] !== undefined ? cluster[0] : await this.summarised(cluster));
    return level;
  }

  private async summarised(items: readonly Item[]): Promise<Item> {
    await this.assertRunning();
    const level = 1 + items.reduce((most, item) => Math.max(most, item.level), 0);
    const children = items.map(({ id }) => id);
    const chunks = items.flatMap(({ chunk }) => (chunk === undefined ? [] : [chunk]));
    const id = await this.summaries.of({
      level,
      children,
      documentIds: chunks.map(({ documentId }) => documentId),
      summaryIds: items.filter(({ chunk }) => chunk === undefined).map((item) => item.id),
      sources: async () =>
        Promise.all(
          items.map(
            async (item) => item.chunk ?? { title: '', headings: [], text: (await this.summaries.text(item.id)) ?? '' },
          ),
        ),
    });
    this.nodes.push({
      id,
      level,
      children,
      chunks: chunks.map(({ chunkId, documentId, key }) => ({ chunkId, documentId, key })),
    });
    await this.show();
    return { id, level };
  }

  private async assertRunning(): Promise<void> {
    this.signal.throwIfAborted();
    renewReadScope();
    const { agentId, running } = this.index;
    const { state } = await this.parts.decisions.load(summaryIndexDecider, agentId);
    if (state.status !== 'present' || state.running?.build !== running.build) throw new BuildEnded();
  }

  private show(): Promise<void> {
    const done = this.nodes.length;
    return this.parts.progress(this.index.agentId, this.index.running.build, done, Math.max(this.total, done));
  }
}

/** The build was cancelled, or another process ended it. */
export class BuildEnded extends Error {
  override readonly name = 'BuildEnded';
}
