import type { Blobs } from '@app/blobs';
import { streamOf } from '@app/kernel';
import { z } from 'zod';
import { type PresentIndex, summaryIndexDecider } from '../summary-index/summary-index.decider';

/** A summary in the index: what it is made of, by id, in order. */
const node = z.strictObject({
  id: z.string(),
  level: z.number().int().positive(),
  /** Summaries, and keys of chunks. */
  children: z.array(z.string()),
  /** Chunks among the children, by the ids that they have in the revision that was read, with their documents. */
  chunks: z.array(z.strictObject({ chunkId: z.string(), documentId: z.string(), key: z.string() })),
});
export type HierarchyNode = z.output<typeof node>;

/** The structure of an index, without any content: which summaries it has and what each is made of. */
const hierarchySchema = z.strictObject({
  /** Every document that it is made of, with the revision at which the passages that were read were indexed. */
  documents: z.record(z.string(), z.number().int()),
  /** The blobs of those passages: a re-index swaps them within a revision. */
  passages: z.record(z.string(), z.string()),
  nodes: z.array(node),
});
export type Hierarchy = z.output<typeof hierarchySchema>;

export const EMPTY_HIERARCHY: Hierarchy = { documents: {}, passages: {}, nodes: [] };

export const encodeHierarchy = (hierarchy: Hierarchy): Buffer => Buffer.from(JSON.stringify(hierarchy));

export const decodeHierarchy = (body: Buffer): Hierarchy => hierarchySchema.parse(JSON.parse(body.toString()));

/** The cluster that each summary, and each chunk by its key, is part of. */
export const parentsIn = ({ nodes }: Hierarchy): ReadonlyMap<string, string> =>
  new Map(nodes.flatMap(({ id, children }) => children.map((child) => [child, id] as const)));

/** How many levels of summaries there are. */
export const levelsOf = ({ nodes }: Pick<Hierarchy, 'nodes'>): number =>
  nodes.reduce((most, { level }) => Math.max(most, level), 0);

/** The ids of the documents that a summary is made of, also through the summaries below. */
export const documentsOf = (node: HierarchyNode, byId: ReadonlyMap<string, HierarchyNode>): ReadonlySet<string> => {
  const found = new Set<string>();
  const open = [node];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const { documentId } of next.chunks) found.add(documentId);
    for (const child of next.children) {
      const below = byId.get(child);
      if (below !== undefined) open.push(below);
    }
  }
  return found;
};

/** The hierarchy of the index that is there; an empty one where there is none. */
export const hierarchyOf = async (
  blobs: Pick<Blobs, 'get'>,
  { agentId, live }: Pick<PresentIndex, 'agentId' | 'live'>,
): Promise<Hierarchy> => {
  const stream = streamOf(summaryIndexDecider.category, agentId);
  const body = live === null ? undefined : await blobs.get(stream, live.hierarchy);
  return body === undefined ? EMPTY_HIERARCHY : decodeHierarchy(body);
};
