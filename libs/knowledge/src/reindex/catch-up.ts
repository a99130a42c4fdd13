import { decodePassages, encodePassages, type StoredPassage } from '@app/search-index';
import type { StandbyPassages } from '../document/document-blobs';
import { documentDecider, type LiveDocument } from '../document/document.decider';
import { isLeftOut } from '../document/document-reindex';
import { type EmbeddingModels, embeddingOf } from '../embed-metered';
import { DocumentWriter } from '../ingestion/document-writer';
import { embedPassages } from '../ingestion/embed-passages';
import { workerMeta } from '../ingestion/ingest';
import { IngestionFailure } from '../ingestion/ingestion-failure';
import { keepCuts, keepEdits } from '../ingestion/kept-edits';
import { inStrides } from '../ingestion/passages';
import { makeStandby, type MakingOf, payerFor, type ReindexParts, vectorsOf } from './reindex-document';
import { reindexDecider, type ReindexJob } from './reindex.decider';

export interface CatchUpParts extends ReindexParts {
  readonly models: ReindexParts['models'] & EmbeddingModels;
  readonly logger: { warn(facts: object, message: string): void };
}

/** Edits of a document while its passages are made again, before others get a turn. */
const MOST_TRIES = 10;

/**
 * Makes a document follow a swap or a rollback that skipped it, because it was edited or renamed after its passages
 * were made. They are made again and then searched; until then, the earlier ones are. If it is killed, it continues
 * after the last batch in the log. False if there is more to do.
 */
export const catchUp = async (
  parts: CatchUpParts,
  { reindexId, documentId }: { readonly reindexId: string; readonly documentId: string },
  signal: AbortSignal,
): Promise<boolean> => {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    signal.throwIfAborted();
    const { state: job } = await parts.decisions.load(reindexDecider, reindexId);
    const to = job.status === 'swapped' ? 'new' : job.status === 'ready' ? 'earlier' : undefined;
    if (job.status === 'none' || to === undefined) return true;
    const { state } = await parts.decisions.load(documentDecider, documentId);
    // What waits for ingestion, or is in it, is made with the present settings there.
    if (!isLeftOut(state, job.jobId, to) || state.status !== 'Ready') return true;
    const { indexed, standby } = state;
    if (indexed === null || standby === null) return true;
    if (standby.of !== indexed.passages) {
      const isWanted = async (): Promise<boolean> => {
        const { state: now } = await parts.decisions.load(reindexDecider, reindexId);
        return now.status === job.status && now.jobId === job.jobId;
      };
      const making = { signal, isWanted };
      try {
        await (to === 'earlier'
          ? makeEarlier(parts, job, state, standby, making)
          : makeStandby(parts, job, { document: state, indexed, wanted: wantedOf(parts, standby) }, making));
      } catch (error) {
        if (!(error instanceof IngestionFailure)) throw error;
        // It was read once, by a version that could: it stays as it is.
        parts.logger.warn(
          { documentId, code: error.code },
          'A document could not follow a re-index. It keeps its present passages.',
        );
        return true;
      }
      // That took a while: the job may have been rolled back, or have ended.
      continue;
    }
    await parts.decisions.transact(
      documentDecider,
      documentId,
      { type: 'SwapPassages', jobId: job.jobId, to },
      workerMeta(parts),
    );
  }
  return false;
};

const wantedOf = ({ models }: CatchUpParts, { chunking }: StandbyPassages) => ({
  embeddingModel: models.embedding().model.key,
  chunking,
});

/**
 * Makes the passages from before a swap again, with the edits since then that they can have, and by the model that they had. Where
 * that is gone, what was edited is found by its words alone, as all of them are.
 */
const makeEarlier = async (
  parts: CatchUpParts,
  job: Pick<ReindexJob, 'jobId' | 'askedBy'>,
  document: LiveDocument,
  standby: StandbyPassages,
  { signal, isWanted }: MakingOf,
): Promise<void> => {
  const writer = new DocumentWriter({ ...parts, meta: () => workerMeta(parts) }, document);
  const [body, text] = [await writer.read(standby.passages), await writer.read(standby.text)];
  if (body === undefined || text === undefined) throw new Error(`a stored body of ${document.documentId} is gone`);
  const earlier = await decodePassages(body);
  const made = await withEditsSince(writer, earlier, new Set(standby.editedChunks), text.toString());
  const embedding = embeddingOf(parts.models, standby.model);
  const passages =
    embedding === undefined
      ? await unembedded(made.passages, earlier)
      : (
          await embedPassages(
            { ...parts, models: { rates: parts.models.rates, embedding: () => embedding } },
            writer,
            made.passages,
            {
              payer: payerFor(job, document),
              before: vectorsOf(document, job.jobId),
              batch: (stored) => ({ type: 'KeepReindexBatch', jobId: job.jobId, ...stored }),
              signal,
              isWanted,
              progress: () => undefined,
            },
          )
        )?.passages;
  if (passages === undefined) return;
  const { tokenCount, chunking, model: embeddingModel } = standby;
  await writer.store([await encodePassages(passages)], ([stored = '']) => ({
    type: 'KeepReindexed',
    jobId: job.jobId,
    of: document.indexed?.passages ?? '',
    text: standby.text,
    passages: stored,
    chunkCount: passages.length,
    tokenCount,
    chunking,
    embeddingModel,
    isEarlier: true,
    editedChunks: made.kept,
    editsDropped: made.dropped,
  }));
};

/** The present edits, and those that only the earlier passages have. They have no vectors. */
const withEditsSince = async (
  writer: DocumentWriter,
  earlier: readonly StoredPassage[],
  edited: ReadonlySet<string>,
  text: string,
) => {
  const asCut = await inStrides(earlier, (passage): StoredPassage => {
    const bare = withoutVector(passage);
    if (!edited.has(passage.chunkId)) return bare;
    const { edited: _, ...unedited } = bare;
    return { ...unedited, text: text.slice(passage.start, passage.end), enabled: true };
  });
  const { passages, kept, dropped } = await keepEdits(writer, await keepCuts(writer, asCut, text), async () => text);
  const keptNow = new Set(kept);
  const byId = new Map(earlier.map((passage) => [passage.chunkId, passage]));
  const all = passages.map((passage): StoredPassage => {
    const before = byId.get(passage.chunkId);
    if (before === undefined || keptNow.has(passage.chunkId) || !edited.has(passage.chunkId)) return passage;
    return withoutVector(before);
  });
  return { passages: all, kept: [...new Set([...kept, ...edited])], dropped };
};

const withoutVector = ({ vector: _vector, embeddedAs: _as, ...passage }: StoredPassage): StoredPassage => passage;

/** With the vectors of texts that are as they were. */
const unembedded = (passages: readonly StoredPassage[], earlier: readonly StoredPassage[]) => {
  const byId = new Map(earlier.map((passage) => [passage.chunkId, passage]));
  return inStrides(passages, (passage): StoredPassage => {
    const { text, vector, embeddedAs } = byId.get(passage.chunkId) ?? passage;
    return text !== passage.text || vector === undefined
      ? passage
      : { ...passage, vector, ...(embeddedAs === undefined ? {} : { embeddedAs }) };
  });
};
