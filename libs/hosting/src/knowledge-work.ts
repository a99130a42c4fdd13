import type { Clock, Config, Ids } from '@app/kernel';
import {
  Batches,
  deleteKnowledge,
  deleteTagsOfDeletedSpaces,
  IngestionWorker,
  ingestWaitingDocuments,
  PASSAGES,
  ProgressBoard,
  removeSupersededBlobs,
  Retrieval,
} from '@app/knowledge';
import type { Models } from '@app/models';
import type { Policy, Projecting } from '@app/projecting';
import { Claims } from '@app/coordination';
import type { Metering } from '@app/spending';
import { documents } from '@projections/documents';
import { waitingDocuments } from '@projections/ingestion-queue';
import { BlobSweep } from './blob-sweep';
import { completeKeys } from './complete-rows';
import type { Stores } from './open-stores';
import type { Finisher } from './unfinished-work';

/** A worker that has not been heard of for this long is dead; its documents are taken up again. */
const CLAIM_MS = 5_000;
/** Waiting documents looked at in one sweep. */
const SWEPT = 500;

export interface WorkParts {
  readonly stores: Stores;
  readonly projecting: Pick<Projecting, 'waitFor' | 'gap' | 'rebuild'>;
  readonly models: Models;
  readonly ids: Ids;
  readonly clock: Clock;
  /** What this process runs. */
  readonly roles: Config['ROLES'];
  readonly logger: { warn(facts: object, message: string): void };
}

export interface KnowledgeWork {
  readonly retrieval: Retrieval;
  readonly worker: IngestionWorker;
  readonly blobSweep: BlobSweep;
  readonly batches: Batches;
  readonly policies: readonly Policy[];
  readonly unfinished: Finisher;
}

/** What works on Knowledge: search, ingestion, and the reactions to additions and deletions. */
export const knowledgeWork = ({
  stores,
  projecting,
  models,
  metering,
  ids,
  clock,
  roles,
  logger,
}: WorkParts & { readonly metering: Metering }): KnowledgeWork => {
  const { decisions, blobs, log, readStore, searchIndex, coordination } = stores;
  const claims = new Claims(coordination, clock, ids.next(), CLAIM_MS);
  const worker = new IngestionWorker({
    decisions,
    blobs,
    models,
    metering,
    ids,
    clock,
    logger,
    progress: new ProgressBoard(coordination, clock),
    claims,
    searchable: async (documentId, { position, revision }, withinMs) =>
      (await projecting.waitFor(PASSAGES, position, withinMs)) &&
      ((await searchIndex.revisionOf(PASSAGES, documentId)) ?? -1) >= revision,
    waiting: () => waitingDocuments(readStore, SWEPT),
  });
  const keys = completeKeys(projecting, readStore);
  const documentsOf = (owner: { readonly agentId: string } | { readonly spaceId: string }, position: string) =>
    keys(documents.name, { ...owner }, [{ field: 'createdAt', order: 'desc' }], position);
  // Workers elsewhere find what is added in the queue.
  const here = roles.includes('worker') ? worker : { offer: () => undefined };
  const policies = [
    ingestWaitingDocuments(here),
    deleteKnowledge({ decisions, log, clock, documentsOf }),
    deleteTagsOfDeletedSpaces({ decisions, log, clock }),
    removeSupersededBlobs(blobs),
  ];
  const blobSweep = new BlobSweep({ blobs, log, readStore, projecting, clock, logger });
  const batches = new Batches(decisions, claims, clock);
  return {
    retrieval: new Retrieval(searchIndex, { models, metering }),
    worker,
    blobSweep,
    batches,
    policies,
    unfinished: { name: 'documents', finish: () => batches.finish() },
  };
};
