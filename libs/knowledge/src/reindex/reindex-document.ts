import { isDomainError, isErased } from '@app/kernel';
import { decodePassages, encodePassages, type StoredPassage } from '@app/search-index';
import type { Embedded } from '../document/document-blobs';
import { documentDecider, type LiveDocument } from '../document/document.decider';
import type { Payer } from '../embed-metered';
import { DocumentWriter } from '../ingestion/document-writer';
import { embedPassages } from '../ingestion/embed-passages';
import { type IngestionParts, workerMeta } from '../ingestion/ingest';
import { keepCuts, keepEdits } from '../ingestion/kept-edits';
import { inStrides, passagesOf } from '../ingestion/passages';
import { readApart } from '../ingestion/read-apart';
import { isCutAnew, isDue, type WantedPassages } from './reindex-plan';
import type { ReindexJob } from './reindex.decider';

export type ReindexParts = Pick<
  IngestionParts,
  'decisions' | 'blobs' | 'models' | 'metering' | 'ids' | 'clock' | 'chunkingOf' | 'parser'
>;

type Indexed = NonNullable<LiveDocument['indexed']>;

/**
 * A document as a job finds it: `none` where there is nothing to do, since it is being ingested, with the present settings, or
 * is as it shall be, or is deleted; `made` where the job has made its passages; else `due`.
 */
export const progressOf = async (
  { decisions, chunkingOf, models }: Pick<ReindexParts, 'decisions' | 'chunkingOf' | 'models'>,
  job: ReindexJob,
  documentId: string,
): Promise<
  | { readonly is: 'none' | 'made' }
  | {
      readonly is: 'due';
      readonly document: LiveDocument;
      readonly indexed: Indexed;
      readonly wanted: WantedPassages;
    }
> => {
  const { state } = await decisions.load(documentDecider, documentId);
  if (state.status !== 'Ready' || state.indexed === null) return { is: 'none' };
  const { indexed, standby } = state;
  const wanted = {
    embeddingModel: models.embedding().model.key,
    chunking: job.scope === 'instance' ? undefined : await chunkingOf(state),
  };
  if (!isDue(indexed, wanted)) return { is: 'none' };
  const isMade =
    standby?.jobId === job.jobId && standby.of === indexed.passages && !standby.isEarlier && !isDue(standby, wanted);
  return isMade ? { is: 'made' } : { is: 'due', document: state, indexed, wanted };
};

/**
 * When to stop making passages: at the signal, or when they are no longer wanted, which is checked before each call of
 * the model.
 */
export interface MakingOf {
  readonly signal: AbortSignal;
  readonly isWanted: () => Promise<boolean>;
}

/** Makes standby passages of a document. It continues after the last batch in the log. */
export const reindexDocument = async (
  parts: ReindexParts,
  job: ReindexJob,
  documentId: string,
  making: MakingOf,
): Promise<void> => {
  const found = await progressOf(parts, job, documentId);
  if (found.is === 'due') await makeStandby(parts, job, found, making);
};

/** Makes the wanted passages of a document, whatever a job made before. Existing vectors are reused. */
export const makeStandby = async (
  parts: ReindexParts,
  job: Pick<ReindexJob, 'jobId' | 'askedBy'>,
  {
    document,
    indexed,
    wanted,
  }: { readonly document: LiveDocument; readonly indexed: Indexed; readonly wanted: WantedPassages },
  { signal, isWanted }: MakingOf,
): Promise<void> => {
  const writer = new DocumentWriter({ ...parts, meta: () => workerMeta(parts) }, document);
  const cut = isCutAnew(indexed.chunking, wanted)
    ? await cutAnew(parts, writer, wanted, signal)
    : {
        text: null,
        tokenCount: indexed.tokenCount,
        passages: await passagesWithout(writer, indexed),
        kept: [...document.editedChunks],
        dropped: 0,
      };
  const { jobId } = job;
  const embedded = await embedPassages(parts, writer, cut.passages, {
    payer: payerFor(job, document),
    before: vectorsOf(document, jobId),
    batch: (stored) => ({ type: 'KeepReindexBatch', jobId, ...stored }),
    signal,
    isWanted,
    progress: () => undefined,
  });
  if (embedded === undefined) return;
  const isSameText = cut.text === null || (await writer.read(indexed.text))?.equals(cut.text) === true;
  const bodies = [...(isSameText ? [] : [cut.text as Buffer]), await encodePassages(embedded.passages)];
  await writer.store(bodies, (names) => ({
    type: 'KeepReindexed',
    jobId,
    of: indexed.passages,
    text: isSameText ? indexed.text : (names[0] as string),
    passages: names.at(-1) as string,
    chunkCount: embedded.passages.length,
    tokenCount: cut.tokenCount,
    chunking: wanted.chunking === undefined ? indexed.chunking : wanted.chunking,
    embeddingModel: embedded.embeddingModel,
    editedChunks: cut.kept,
    editsDropped: cut.dropped,
  }));
};

/** Whose limits the calls of a job for a document count against. */
export const payerFor = (
  { askedBy }: Pick<ReindexJob, 'askedBy'>,
  { agentId, spaceId }: Pick<LiveDocument, 'agentId' | 'spaceId'>,
): Payer => ({
  ...askedBy,
  ...(agentId === null ? {} : { agentId }),
  ...(spaceId === null ? {} : { spaceId }),
});

/** Whether what a job made of a document is stored, whole and with its vectors. */
export const isWhole = async (
  { decisions, blobs }: Pick<ReindexParts, 'decisions' | 'blobs'>,
  documentId: string,
): Promise<boolean> => {
  const { state } = await decisions.load(documentDecider, documentId);
  if (state.status !== 'Ready' || state.standby === null) return false;
  const body = await blobs.get(`${documentDecider.category}-${documentId}`, state.standby.passages);
  if (body === undefined) return false;
  const passages = await decodePassages(body);
  return passages.length === state.standby.chunkCount && passages.every(({ vector }) => vector !== undefined);
};

/** The result, or undefined where the document was deleted meanwhile. */
export const unlessDeleted = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await work();
  } catch (error) {
    if (!isDomainError(error, 'not_found')) throw error;
    return undefined;
  }
};

const cutAnew = async (
  { parser }: ReindexParts,
  writer: DocumentWriter,
  { chunking }: WantedPassages,
  signal: AbortSignal,
) => {
  const { documentId, name, file, mimeType } = writer.document;
  const body = (await writer.read(file)) ?? missing(documentId);
  const source = { name: isErased(name) ? '' : name, mimeType, body };
  const read = await readApart(parser, source, chunking ?? null, signal);
  const chunks = await keepCuts(writer, await passagesOf(documentId, read), read.text);
  const kept = await keepEdits(writer, chunks, async () => read.text);
  return { text: Buffer.from(read.text), tokenCount: read.tokenCount, ...kept };
};

const passagesWithout = async (writer: DocumentWriter, { passages }: Indexed): Promise<readonly StoredPassage[]> => {
  const stored = await decodePassages((await writer.read(passages)) ?? missing(writer.document.documentId));
  return inStrides(stored, ({ vector: _vector, embeddedAs: _as, ...passage }): StoredPassage => passage);
};

const missing = (documentId: string): never => {
  throw new Error(`a stored body of document ${documentId} is gone`);
};

/** Vectors that need not be made: of what is searched, and of what this job made, also if it is of use no more. */
export const vectorsOf = ({ indexed, standby, embeddedStandby }: LiveDocument, jobId: string): readonly Embedded[] => [
  ...(indexed === null || indexed.model === null ? [] : [{ passages: indexed.passages, model: indexed.model }]),
  ...(standby?.jobId !== jobId || standby.model === null ? [] : [{ passages: standby.passages, model: standby.model }]),
  ...(embeddedStandby?.jobId === jobId ? embeddedStandby.batches : []),
];
