import { isErased } from '@app/kernel';
import { decodePassages, encodePassages, type StoredPassage } from '@app/search-index';
import type { Requester } from '../document/requester';
import { documentDecider } from '../document/document.decider';
import { retitlingOf } from '../document/serving';
import { type EmbeddingModels, embeddingOf, type EmbeddingParts } from '../embed-metered';
import { DocumentWriter } from '../ingestion/document-writer';
import { embedPassages } from '../ingestion/embed-passages';
import { type IngestionParts, workerMeta } from '../ingestion/ingest';
import { embeddingKey, inStrides } from '../ingestion/passages';

export interface RetitleParts extends EmbeddingParts, Pick<IngestionParts, 'decisions' | 'blobs' | 'ids' | 'clock'> {
  readonly models: EmbeddingParts['models'] & EmbeddingModels;
}

/**
 * Embeds the passages of a renamed document again, with its new title. It is searched all the time. If it is killed, it
 * continues after the last batch in the log. False if there may be more to do: it is not Ready yet, or changed
 * meanwhile.
 */
export const retitleDocument = async (
  parts: RetitleParts,
  documentId: string,
  askedBy: Requester | null,
  signal: AbortSignal,
): Promise<boolean> => {
  const { state } = await parts.decisions.load(documentDecider, documentId);
  if (state.status === 'Indexed') return false;
  // What waits for ingestion, or is in it, gets its vectors there.
  if (state.status !== 'Ready' || state.indexed === null || isErased(state.name)) return true;
  const { name, indexed, agentId, spaceId, embeddedStandby } = state;
  // Those of a model that is gone are for a re-index to make.
  const embedding = embeddingOf(parts.models, indexed.model);
  if (embedding === undefined || indexed.model === null) return true;
  const writer = new DocumentWriter({ ...parts, meta: () => workerMeta(parts) }, state);
  const body = await writer.read(indexed.passages);
  if (body === undefined) return false;
  const passages = await decodePassages(body);
  const isStale = ({ embeddedAs, ...passage }: StoredPassage): boolean => embeddedAs !== embeddingKey(name, passage);
  if (!(await inStrides(passages, isStale)).includes(true)) return true;
  const jobId = retitlingOf(documentId, name);
  const bare = ({ vector: _vector, embeddedAs: _as, ...passage }: StoredPassage): StoredPassage => passage;
  const embeddingBy = { ...parts, models: { rates: parts.models.rates, embedding: () => embedding } };
  const embedded = await embedPassages(embeddingBy, writer, await inStrides(passages, bare), {
    payer: {
      ...(askedBy ?? state.askedBy),
      ...(agentId === null ? {} : { agentId }),
      ...(spaceId === null ? {} : { spaceId }),
    },
    before: [
      ...(passages.every(({ embeddedAs }) => embeddedAs !== undefined)
        ? [{ passages: indexed.passages, model: indexed.model }]
        : []),
      ...(embeddedStandby?.jobId === jobId ? embeddedStandby.batches : []),
    ],
    batch: (stored) => ({ type: 'KeepReindexBatch', jobId, ...stored }),
    signal,
    progress: () => undefined,
  });
  if (embedded === undefined) return false;
  const done = await writer.store([await encodePassages(embedded.passages)], ([stored = '']) => ({
    type: 'Retitle',
    name,
    base: indexed.passages,
    passages: stored,
  }));
  return done !== undefined;
};
