import { revealed } from '@app/kernel';
import { SHOWN_DOCUMENTS, type ShownDocuments } from '@app/knowledge';
import { CompleteViews } from '@app/projecting';
import { pagesOf, READ_STORE, type ReadStore, type StoredRow } from '@app/read-store';
import {
  RUNNING_BUILDS,
  type RunningBuilds,
  type SourceDocument,
  SUMMARIES_OF,
  type SummariesOf,
  SUMMARY_SOURCES,
  type SummarisedAgent,
  type SummarySources,
} from '@app/section-summaries';
import { type DocumentRow, documents, DocumentsViewModule } from '@projections/documents';
import { Module } from '@nestjs/common';
import {
  type BuildRow,
  sectionSummaries,
  type SourceRow,
  summaryBuilds,
  type SummaryRow,
  summarySources,
} from './section-summaries.projection';

/** Where documents are searched that an Agent finds. */
const placesOf = ({ agentId, spaceId }: SummarisedAgent): readonly string[] => [`a:${agentId}`, `s:${spaceId}`, 'g'];

/** Asks the same source as searches do which documents are Ready. */
const sources = (store: Pick<ReadStore, 'find' | 'getMany'>, shown: ShownDocuments): SummarySources => ({
  of: async (agent) => {
    const found: SourceDocument[] = [];
    for (const place of placesOf(agent)) {
      const where = { place, status: 'Ready' };
      const orderBy = [{ field: 'createdAt', order: 'desc' as const }];
      for await (const rows of pagesOf(store, documents.name, { where, orderBy }))
        for (const { row } of rows as readonly StoredRow<DocumentRow>[]) found.push(...sourceOf(row));
    }
    const ready = await shown.ready(found.map(({ documentId }) => documentId));
    return found
      .filter(({ documentId }) => ready.has(documentId))
      .toSorted((a, b) => (a.documentId < b.documentId ? -1 : 1));
  },
  ready: async (agent, documentIds) => {
    const places = placesOf(agent);
    const ready = await shown.ready(documentIds);
    const rows = (await store.getMany(documents.name, [...ready.keys()])) as readonly StoredRow<DocumentRow>[];
    return new Map(
      rows.flatMap(({ key, row }) =>
        places.includes(row.place) ? sourceOf(row).map((source) => [key, source] as const) : [],
      ),
    );
  },
});

const sourceOf = (row: DocumentRow): readonly SourceDocument[] => {
  const { id: documentId, name, passages, indexedRevision: revision, chunkCount, tokenCount } = row;
  return passages === null || revision === null
    ? []
    : [{ documentId, name: revealed<string>(name, ''), revision, passages, chunkCount, tokenCount }];
};

const summariesOf = (views: CompleteViews, store: Pick<ReadStore, 'find' | 'getMany'>): SummariesOf => ({
  source: async (sourceId, position) => {
    await views.reached(summarySources.name, position);
    const ids: string[] = [];
    const orderBy = [{ field: 'summaryId', order: 'asc' as const }];
    for await (const rows of pagesOf(store, summarySources.name, { where: { sourceId }, orderBy }))
      for (const { row } of rows as readonly StoredRow<SourceRow>[]) ids.push(row.summaryId);
    return ids;
  },
  agent: async (agentId, position) => {
    await views.reached(sectionSummaries.name, position);
    const found: SummaryRow[] = [];
    const orderBy = [{ field: 'summaryId', order: 'asc' as const }];
    for await (const rows of pagesOf(store, sectionSummaries.name, { where: { agentId }, orderBy }))
      for (const { row } of rows as readonly StoredRow<SummaryRow>[]) found.push(row);
    return found;
  },
  present: async (summaryIds, position) => {
    const isComplete = await views.awaited(sectionSummaries.name, position);
    const rows = await store.getMany(sectionSummaries.name, summaryIds);
    return { ids: new Set(rows.map(({ key }) => key)), isComplete };
  },
});

/** All builds: those that cannot go on now keep no others waiting. */
export const runningBuilds =
  (store: Pick<ReadStore, 'find'>): RunningBuilds =>
  async () => {
    const orderBy = [{ field: 'agentId', order: 'asc' as const }];
    const agentIds: string[] = [];
    for await (const rows of pagesOf(store, summaryBuilds.name, { where: { running: true }, orderBy }))
      for (const { row } of rows as readonly StoredRow<BuildRow>[]) agentIds.push(row.agentId);
    return agentIds;
  };

/** The views of section summaries. */
@Module({
  imports: [DocumentsViewModule],
  providers: [
    { provide: SUMMARY_SOURCES, inject: [READ_STORE, SHOWN_DOCUMENTS], useFactory: sources },
    { provide: SUMMARIES_OF, inject: [CompleteViews, READ_STORE], useFactory: summariesOf },
    { provide: RUNNING_BUILDS, inject: [READ_STORE], useFactory: runningBuilds },
  ],
  exports: [SUMMARY_SOURCES, SUMMARIES_OF, RUNNING_BUILDS],
})
export class SectionSummariesViewModule {
  static readonly projections = [sectionSummaries, summarySources, summaryBuilds];
}
