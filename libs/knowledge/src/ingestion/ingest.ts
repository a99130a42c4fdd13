import type { Blobs } from '@app/blobs';
import {
  type Clock,
  type CommandMeta,
  type Decisions,
  type Ids,
  isUnavailable,
  type Position,
  type Receipt,
  streamOf,
} from '@app/kernel';
import { estimatedTokens } from '@app/models';
import { encodePassages } from '@app/search-index';
import { documentDecider, type DocumentCommand, type LiveDocument } from '../document/document.decider';
import type { EmbeddingParts, Payer } from '../embed-metered';
import { Attempt, verdictOn } from './attempt';
import { embedChunks } from './embed-chunks';
import { IngestionFailure } from './ingestion-failure';
import type { ProgressBoard } from './progress';
import { readApart } from './read-apart';

/** How long the search index may take to serve a document before ingestion gives up, milliseconds. */
const SEARCHABLE_WITHIN_MS = 10 * 60_000;

export interface IngestionParts extends EmbeddingParts {
  readonly logger: { warn(facts: object, message: string): void };
  readonly decisions: Decisions;
  readonly blobs: Pick<Blobs, 'put' | 'get' | 'remove'>;
  readonly progress: ProgressBoard;
  readonly ids: Ids;
  readonly clock: Clock;
  /** Resolves once the document is shown as it stood at a position, or takes too long to be. */
  readonly shown: (position: Position) => Promise<unknown>;
  /** True once searches find the document as it was indexed; false when they do not in time, or never will. */
  readonly searchable: (documentId: string, indexed: IndexedAt, withinMs: number) => Promise<boolean>;
}

/** Where the passages of a document were named in the log, and as which revision of it. */
export type IndexedAt = Pick<Receipt, 'position' | 'revision'>;

type Decide = (command: DocumentCommand) => Promise<Receipt>;

/**
 * Takes a document from its present state to Ready or Failed: parse, chunk, embed, publish. It may be killed anywhere and
 * started again; only the last attempt counts. An attempt that may succeed later leaves the document Pending.
 */
export const ingest = async (parts: IngestionParts, documentId: string, signal: AbortSignal): Promise<void> => {
  const decide: Decide = (command) => parts.decisions.transact(documentDecider, documentId, command, workerMeta(parts));
  const { state, position } = await parts.decisions.load(documentDecider, documentId);
  if (state.status === 'Indexed')
    return publish(parts, decide, state, { position: position as Position, revision: state.indexed?.revision ?? 0 });
  if (state.status !== 'Pending' && state.status !== 'Processing') return;
  // The search index drops it from here on: by then nobody sees it as Ready.
  await parts.shown(position as Position);
  await decide({ type: 'Start' });
  const started = (await parts.decisions.load(documentDecider, documentId)).state;
  if (started.status === 'Processing') await attempt(parts, decide, started, signal);
};

const attempt = async (
  parts: IngestionParts,
  decide: Decide,
  document: LiveDocument,
  signal: AbortSignal,
): Promise<void> => {
  const { documentId } = document;
  const run = new Attempt(() => parts.clock.now());
  try {
    const indexed = await index(parts, decide, document, run, signal);
    if (indexed.eventIds.length > 0) await publish(parts, decide, document, indexed);
  } catch (error) {
    signal.throwIfAborted();
    const { code, retryInMs } = verdictOn(error, document.failures);
    const where = { attempt: document.attempt, step: run.step, code };
    if (retryInMs === null) await decide({ type: 'Fail', ...where });
    else
      await decide({
        type: 'RetryLater',
        ...where,
        retryAt: new Date(parts.clock.now().getTime() + retryInMs).toISOString(),
      });
  } finally {
    await parts.progress.clear(documentId);
  }
};

/** Parse, chunk, embed, and store what came of it. */
const index = async (
  parts: IngestionParts,
  decide: Decide,
  document: LiveDocument,
  run: Attempt,
  signal: AbortSignal,
): Promise<Receipt> => {
  const { documentId, attempt: number } = document;
  const stream = streamOf(documentDecider.category, documentId);
  const show = (step: 'parse' | 'embed' | 'publish', done: number, total: number | null) =>
    parts.progress.show(documentId, number, step, done, total);

  await show('parse', 0, null);
  const body = (await parts.blobs.get(stream, document.file)) ?? gone();
  const readAt = parts.clock.now();
  const read = await readApart(body, document.mimeType);
  run.report('parse', readAt, read.milliseconds.parse, read.text.length);
  run.report('chunk', readAt, read.milliseconds.chunk, read.chunks.length);
  signal.throwIfAborted();

  const total = read.chunks.length;
  const embedded = (done: number): void =>
    void show('embed', done, total).catch((error: unknown) =>
      parts.logger.warn({ documentId, error }, 'Reporting progress failed; the work goes on.'),
    );
  await show('embed', 0, total);
  const { passages, embeddingModel } = await run.run(
    'embed',
    () => embedChunks(parts, { documentId, payer: payerOf(document) }, read, signal, embedded),
    (made) => made.passages.length,
  );

  await show('publish', 0, total);
  const owner = document.spaceId === null ? {} : { spaceId: document.spaceId };
  const [text, chunks] = await run.run(
    'publish',
    async () => storeBoth(parts.blobs, stream, owner, Buffer.from(read.text), await encodePassages(passages)),
    (names) => names.length,
  );
  const command = {
    attempt: number,
    text,
    passages: chunks,
    chunkCount: total,
    tokenCount: estimatedTokens(read.text),
    embeddingModel,
    steps: run.reports,
  };
  try {
    const receipt = await decide({ type: 'MarkIndexed', ...command });
    // Another worker or a newer content was faster: nothing names these.
    if (receipt.eventIds.length === 0) await parts.blobs.remove([text, chunks]);
    return receipt;
  } catch (error) {
    if (!(isUnavailable(error) && error.outcome === 'unknown')) await parts.blobs.remove([text, chunks]);
    throw error;
  }
};

const payerOf = ({ askedBy, agentId, spaceId }: LiveDocument): Payer => ({
  ...askedBy,
  ...(agentId === null ? {} : { agentId }),
  ...(spaceId === null ? {} : { spaceId }),
});

const gone = (): never => {
  throw new IngestionFailure('content_missing');
};

const storeBoth = async (
  blobs: IngestionParts['blobs'],
  stream: string,
  owner: { readonly spaceId?: string },
  text: Buffer,
  passages: Buffer,
): Promise<readonly [text: string, passages: string]> => {
  const stored = await blobs.put(stream, text, owner);
  return [stored.name, (await blobs.put(stream, passages, owner)).name];
};

/** A document is Ready only if a search finds it. That the index moved past its event is not enough: it may have failed there. */
const publish = async (
  parts: IngestionParts,
  decide: Decide,
  { documentId, attempt }: LiveDocument,
  indexed: IndexedAt,
): Promise<void> => {
  if (await parts.searchable(documentId, indexed, SEARCHABLE_WITHIN_MS)) await decide({ type: 'MarkReady', attempt });
  else await decide({ type: 'Fail', attempt, step: 'publish', code: 'not_searchable' });
};

const workerMeta = ({ ids, clock }: IngestionParts): CommandMeta => {
  const commandId = ids.next();
  return { commandId, correlationId: commandId, actor: 'system:ingestion', now: clock.now() };
};
