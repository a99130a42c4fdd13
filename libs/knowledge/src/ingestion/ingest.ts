import type { Blobs } from '@app/blobs';
import type { Parser } from '@app/extraction';
import {
  type Clock,
  type CommandMeta,
  type Decisions,
  type Ids,
  isErased,
  type Position,
  type Receipt,
} from '@app/kernel';
import { decodePassages, encodePassages, type Passage } from '@app/search-index';
import { embeddedBefore } from '../document/document-blobs';
import { documentDecider, type LiveDocument } from '../document/document.decider';
import type { IngestionStep, StepReport } from '../document/document.events';
import type { EmbeddingParts } from '../embed-metered';
import type { ChunkingOf } from '../lookups';
import { Attempt, verdictOn } from './attempt';
import { DocumentWriter } from './document-writer';
import { embedPassages, payerOf } from './embed-passages';
import { IngestionFailure } from './ingestion-failure';
import { keepCuts, keepEdits } from './kept-edits';
import { passagesOf } from './passages';
import type { ProgressBoard } from './progress';
import { readApart } from './read-apart';

/** How long the search index may take to serve a document before ingestion gives up, milliseconds. */
const SEARCHABLE_WITHIN_MS = 10 * 60_000;

export interface IngestionParts extends EmbeddingParts {
  readonly logger: { warn(facts: object, message: string): void };
  readonly decisions: Decisions;
  readonly blobs: Pick<Blobs, 'group' | 'put' | 'get' | 'remove'>;
  readonly progress: ProgressBoard;
  readonly chunkingOf: ChunkingOf;
  readonly parser: Pick<Parser, 'read'>;
  readonly ids: Ids;
  readonly clock: Clock;
  /** Resolves once the document is shown as it stood at a position, or takes too long to be. */
  readonly shown: (position: Position) => Promise<unknown>;
  /** True once searches find the indexed document; false if they do not in time, or never will. */
  readonly searchable: (documentId: string, indexed: IndexedAt, withinMs: number) => Promise<boolean>;
}

/** Where the passages of a document were named in the log, and as which revision of it. */
export type IndexedAt = Pick<Receipt, 'position' | 'revision'>;

/**
 * Takes a document from its present state to Ready or Failed: parse, chunk, embed, publish. It may be killed at any
 * point and started again: it continues after the last step in the log, and only the last attempt counts. An attempt
 * that may succeed later leaves the document Pending.
 */
export const ingest = async (parts: IngestionParts, documentId: string, signal: AbortSignal): Promise<void> => {
  const { decisions } = parts;
  const { state, position } = await decisions.load(documentDecider, documentId);
  const writerOf = (document: LiveDocument) =>
    new DocumentWriter({ ...parts, meta: () => workerMeta(parts) }, document);
  if (state.status === 'Indexed') {
    await parts.progress.clear(documentId, true);
    return publish(parts, writerOf(state), { position: position as Position, revision: state.indexed?.revision ?? 0 });
  }
  if (state.status !== 'Pending' && state.status !== 'Processing') return;
  // The search index drops it from here on: by then nobody sees it as Ready.
  await parts.shown(position as Position);
  await writerOf(state).decide({ type: 'Start' });
  const started = (await decisions.load(documentDecider, documentId)).state;
  if (started.status === 'Processing') await attempt(parts, writerOf(started), signal);
};

const attempt = async (parts: IngestionParts, writer: DocumentWriter, signal: AbortSignal): Promise<void> => {
  const { documentId, attempt: number, failures } = writer.document;
  const run = new Attempt(() => parts.clock.now());
  try {
    const indexed = await index(parts, writer, run, signal);
    if (indexed !== undefined) await publish(parts, writer, indexed);
  } catch (error) {
    signal.throwIfAborted();
    const { code, retryInMs } = verdictOn(error, failures);
    const where = { attempt: number, step: run.step, code };
    if (retryInMs === null) await writer.decide({ type: 'Fail', ...where });
    else
      await writer.decide({
        type: 'RetryLater',
        ...where,
        retryAt: new Date(parts.clock.now().getTime() + retryInMs).toISOString(),
      });
  } finally {
    await parts.progress.clear(documentId, number > 1);
  }
};

/** Parse, chunk, embed, and store what came of it. Undefined where this attempt counts no longer. */
const index = async (
  parts: IngestionParts,
  writer: DocumentWriter,
  run: Attempt,
  signal: AbortSignal,
): Promise<Receipt | undefined> => {
  const { documentId, attempt: number } = writer.document;
  const show = (step: IngestionStep, done: number, total: number | null) =>
    parts.progress.show(documentId, number, step, done, total);

  show('parse', 0, null);
  const chunked = (await chunkedBefore(writer)) ?? (await chunkNow(parts, writer, run, signal));
  if (chunked === undefined) return undefined;
  const { chunks, text } = chunked;
  const { passages: edited, kept, dropped } = await keepEdits(writer, chunks, text);

  const total = chunks.length;
  show('embed', 0, total);
  const embedded = await run.run(
    'embed',
    () =>
      embedPassages(parts, writer, edited, {
        payer: payerOf(writer),
        before: embeddedBefore(writer.document),
        batch: (stored) => ({ type: 'MarkEmbedded', attempt: number, ...stored }),
        signal,
        progress: (done) => show('embed', done, total),
      }),
    (done) => done?.made ?? 0,
  );
  if (embedded === undefined) return undefined;

  show('publish', 0, total);
  const { passages, embeddingModel, last } = embedded;
  const body = await run.run(
    'publish',
    () => encodePassages(passages),
    () => passages.length,
  );
  return writer.store([body], ([name = '']) => ({
    type: 'MarkIndexed',
    attempt: number,
    name: writer.document.name,
    passages: name,
    embedded: last,
    embeddingModel,
    steps: run.reports,
    editedChunks: kept,
    editsDropped: dropped,
  }));
};

/** Chunks, and the text that they were cut from. */
interface Chunked {
  readonly chunks: readonly Passage[];
  readonly text: () => Promise<string>;
}

/** What an earlier attempt at this content has cut; undefined where none has, or it is gone. */
const chunkedBefore = async (writer: DocumentWriter): Promise<Chunked | undefined> => {
  const { extracted, chunked } = writer.document;
  if (extracted === null || chunked === null) return undefined;
  const body = await writer.read(chunked.chunks);
  if (body === undefined) return undefined;
  return { chunks: await decodePassages(body), text: async () => (await writer.read(extracted))?.toString() ?? '' };
};

/** Reads the file, cuts its text and stores both. Undefined where this attempt counts no longer. */
const chunkNow = async (
  { clock, chunkingOf, decisions, parser }: IngestionParts,
  writer: DocumentWriter,
  run: Attempt,
  signal: AbortSignal,
): Promise<Chunked | undefined> => {
  const { documentId, attempt: number, name, file, mimeType } = writer.document;
  const body = (await writer.read(file)) ?? gone();
  const readAt = clock.now();
  const chunking = await chunkingOf(writer.document);
  const source = { name: isErased(name) ? '' : name, mimeType, body };
  const read = await whileItCounts(decisions, writer, signal, (counts) => readApart(parser, source, chunking, counts));
  run.step = 'chunk';
  const passages = await keepCuts(writer, await passagesOf(documentId, read), read.text);
  const report = (step: 'parse' | 'chunk', produced: number): StepReport => ({
    step,
    startedAt: readAt.toISOString(),
    milliseconds: read.milliseconds[step],
    produced,
  });
  const named = await writer.store(
    [Buffer.from(read.text), await encodePassages(passages)],
    ([text = '', chunks = '']) => ({
      type: 'MarkChunked',
      attempt: number,
      text,
      chunks,
      chunkCount: passages.length,
      tokenCount: read.tokenCount,
      chunking,
      reports: { parse: report('parse', read.text.length), chunk: report('chunk', passages.length) },
    }),
  );
  return named && { chunks: passages, text: async () => read.text };
};

/** How often reading asks whether the document is still to be read, milliseconds. */
const ASKS_MS = 1_000;

/**
 * Reads as long as the attempt counts: the signal of the work ends with a deletion or newer content. It then rejects,
 * and the document takes no notice of that failure, because the attempt does not count.
 */
const whileItCounts = async <T>(
  decisions: Decisions,
  { document: { documentId, attempt: number } }: DocumentWriter,
  signal: AbortSignal,
  work: (counts: AbortSignal) => Promise<T>,
): Promise<T> => {
  const overtaken = new AbortController();
  const ask = async (): Promise<void> => {
    const { state } = await decisions.load(documentDecider, documentId);
    if (state.status !== 'Processing' || state.attempt !== number) overtaken.abort();
  };
  // A log that does not answer now is asked again.
  const asking = setInterval(() => void ask().catch(() => undefined), ASKS_MS).unref();
  try {
    return await work(AbortSignal.any([signal, overtaken.signal]));
  } finally {
    clearInterval(asking);
  }
};

const gone = (): never => {
  throw new IngestionFailure('content_missing');
};

/**
 * A document is Ready only if a search finds it, or would if it were enabled. It is not enough that the index moved
 * past its event: it may have failed there.
 */
const publish = async (parts: IngestionParts, writer: DocumentWriter, indexed: IndexedAt): Promise<void> => {
  const { documentId, attempt: number } = writer.document;
  for (let at = indexed; ;) {
    const isSearched = await parts.searchable(documentId, at, SEARCHABLE_WITHIN_MS);
    const { state, position } = await parts.decisions.load(documentDecider, documentId);
    if (isSearched || !('enabled' in state) || !state.enabled)
      return void (await writer.decide({ type: 'MarkReady', attempt: number }));
    if (position === null || position === at.position) break;
    // It was disabled and enabled meanwhile: the index takes it again.
    at = { position, revision: indexed.revision };
  }
  await writer.decide({ type: 'Fail', attempt: number, step: 'publish', code: 'not_searchable' });
};

/** A command of a worker. */
export const workerMeta = ({ ids, clock }: Pick<IngestionParts, 'ids' | 'clock'>): CommandMeta => {
  const commandId = ids.next();
  return { commandId, correlationId: commandId, actor: 'system:ingestion', now: clock.now() };
};
