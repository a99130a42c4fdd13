import { BLOBS, type Blobs } from '@app/blobs';
import { Decisions, isErased } from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';
import { documentsOf, type Hierarchy, hierarchyOf, type HierarchyNode } from '../building/hierarchy';
import { type SummarisedAgent, SUMMARY_SOURCES, type SummarySources } from '../lookups';
import { sectionSummaryDecider } from '../section-summary/section-summary.decider';
import { summaryIndexDecider } from '../summary-index/summary-index.decider';

/** Indexes whose structure is kept in memory. */
const MOST_INDEXES = 50;
/** A summary of more documents is not shown: each of them is looked at. */
const MOST_DOCUMENTS = 64;

/** A summary beside what was found. */
export interface ShownSummary {
  readonly id: string;
  /** 1 for what is made of chunks alone. */
  readonly level: number;
  readonly text: string;
}

/** A chunk that was found, or cited, in the revision of its document at which it was indexed. */
export interface GroundedChunk {
  readonly chunkId: string;
  readonly documentId: string;
  readonly documentRevision: number;
}

/** What is known of an index: the cluster of each chunk, and the revision at which each document was read. */
interface Structure {
  readonly clusterOf: ReadonlyMap<string, { readonly node: HierarchyNode; readonly documents: readonly string[] }>;
  readonly revisions: Hierarchy['documents'];
  readonly passages: Hierarchy['passages'];
}

/**
 * The summaries that stand beside grounded sections: of each chunk that of its cluster, the lowest above it. One is shown only where every
 * document that it was made of is Ready, is searched by the Agent, and is as it was when it was summarised.
 */
@Injectable()
export class SummariesBeside {
  /** By the blob of the hierarchy. */
  private readonly structures = new Map<string, Structure>();

  constructor(
    private readonly decisions: Decisions,
    @Inject(BLOBS) private readonly blobs: Blobs,
    @Inject(SUMMARY_SOURCES) private readonly sources: SummarySources,
  ) {}

  /** By the id of the chunk; nothing for those that have none. */
  async of(agent: SummarisedAgent, chunks: readonly GroundedChunk[]): Promise<ReadonlyMap<string, ShownSummary>> {
    const shown = new Map<string, ShownSummary>();
    const structure = await this.structure(agent.agentId);
    if (structure === undefined) return shown;
    const { clusterOf, revisions, passages } = structure;
    const found = new Map(
      chunks.flatMap(({ chunkId, documentId, documentRevision }) => {
        const cluster = clusterOf.get(chunkId);
        return cluster === undefined ||
          cluster.documents.length > MOST_DOCUMENTS ||
          revisions[documentId] !== documentRevision
          ? []
          : [[chunkId, cluster] as const];
      }),
    );
    if (found.size === 0) return shown;
    const documentIds = new Set([...found.values()].flatMap(({ documents }) => documents));
    const ready = await this.sources.ready(agent, [...documentIds]);
    const isAsRead = (documentId: string): boolean => {
      const now = ready.get(documentId);
      return now?.revision === revisions[documentId] && now?.passages === passages[documentId];
    };
    const nodes = [...found.values()].flatMap(({ node, documents }) => (documents.every(isAsRead) ? [node] : []));
    const texts = await this.texts(agent.agentId, [...new Set(nodes)]);
    for (const [chunkId, { node }] of found) {
      const text = texts.get(node.id);
      if (text !== undefined) shown.set(chunkId, { id: node.id, level: node.level, text });
    }
    return shown;
  }

  /** What summaries say, of those that are not removed. */
  private async texts(agentId: string, nodes: readonly HierarchyNode[]): Promise<ReadonlyMap<string, string>> {
    const read = nodes.map(async ({ id }): Promise<readonly (readonly [string, string])[]> => {
      const { state } = await this.decisions.recall(sectionSummaryDecider, id);
      return state.status !== 'present' || state.agentId !== agentId || isErased(state.text) ? [] : [[id, state.text]];
    });
    return new Map((await Promise.all(read)).flat());
  }

  private async structure(agentId: string): Promise<Structure | undefined> {
    const { state } = await this.decisions.recall(summaryIndexDecider, agentId);
    if (state.status !== 'present' || state.live === null) return undefined;
    const { hierarchy: blob } = state.live;
    const known = this.structures.get(blob) ?? structureOf(await hierarchyOf(this.blobs, state));
    // The last one used comes last.
    this.structures.delete(blob);
    this.structures.set(blob, known);
    for (const oldest of this.structures.keys()) {
      if (this.structures.size <= MOST_INDEXES) break;
      this.structures.delete(oldest);
    }
    return known;
  }
}

const structureOf = ({ documents: revisions, passages, nodes }: Hierarchy): Structure => {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const clusterOf = new Map(
    nodes.flatMap((node) => {
      if (node.chunks.length === 0) return [];
      const cluster = { node, documents: [...documentsOf(node, byId)] };
      return node.chunks.map(({ chunkId }) => [chunkId, cluster] as const);
    }),
  );
  return { clusterOf, revisions, passages };
};
