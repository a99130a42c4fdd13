import type { Blobs } from '@app/blobs';
import { type Clock, type CommandMeta, type Decisions, type Ids, isUnavailable, type Position, type Receipt, streamOf } from '@app/kernel';
import { estimatedTokens, type Models } from '@app/models';
import { encodePassages } from '@app/search-index';
import { documentDecider, type DocumentCommand, type LiveDocument } from '../document/document.decider';
import { Attempt, verdictOn } from './attempt';
import { embedChunks } from './embed-chunks';
import { IngestionFailure } from './ingestion-failure';
import type { ProgressBoard } from './progress';
import { readApart } from './read-apart';

/** How long the search index may take to serve a document before ingestion gives up, milliseconds. */
const SEARCHABLE_WITHIN_MS = 10 * 60_000;

export interface IngestionParts {
  readonly decisions: Decisions;
  readonly blobs: Blobs;
  readonly models: Models;
  readonly progress: ProgressBoard;
  readonly ids: Ids;
  readonly clock: Clock;
  /** True once the search index serves everything up to a position, false when it does not in time. */
  readonly searchable: (position: Position, withinMs: number) => Promise<boolean>;
}

type Decide = (command: DocumentCommand) => Promise<Receipt>;

/**
 * Brings one document from where it stands to Ready or Failed: parse, chunk, embed, publish. It may be killed anywhere and
 * begun again; only the last attempt counts. An attempt that may succeed later leaves the document Pending.
 */
export const ingest = async (parts: IngestionParts, documentId: string, signal: AbortSignal): Promise<void> => {
  const decide: Decide = (command) => parts.decisions.transact(documentDecider, documentId, command, workerMeta(parts));
  const { state, position } = await parts.decisions.load(documentDecider, documentId);
  if (state.status === 'Indexed') return publish(parts, decide, state.attempt, position as Position);
  if (state.status !== 'Pending' && state.status !== 'Processing') return;
  await decide({ type: 'Start' });
  const started = (await parts.decisions.load(documentDecider, documentId)).state;
  if (started.status === 'Processing') await attempt(parts, decide, started, signal);
};

const attempt = async (parts: IngestionParts, decide: Decide, document: LiveDocument, signal: AbortSignal): Promise<void> => {
  const { documentId } = document;
  const run = new Attempt(() => parts.clock.now());
  try {
    const indexed = await index(parts, decide, document, run, signal);
    if (indexed.eventIds.length > 0) await publish(parts, decide, document.attempt, indexed.position);
  } catch (error) {
    signal.throwIfAborted();
    const { code, retryInMs } = verdictOn(error, document.failures);
    const where = { attempt: document.attempt, step: run.step, code };
    if (retryInMs === null) await decide({ type: 'Fail', ...where });
    else await decide({ type: 'RetryLater', ...where, retryAt: new Date(parts.clock.now().getTime() + retryInMs).toISOString() });
  } finally {
    await parts.progress.clear(documentId);
  }
};

/** Parse, chunk, embed, and store what came of it. */
const index = async (parts: IngestionParts, decide: Decide, document: LiveDocument, run: Attempt, signal: AbortSignal): Promise<Receipt> => {
  const { documentId, attempt: number } = document;
  const thing = streamOf(documentDecider.category, documentId);
  const show = (step: 'parse' | 'embed' | 'publish', done: number, total: number | null) => parts.progress.show(documentId, number, step, done, total);

  await show('parse', 0, null);
  const body = (await parts.blobs.get(thing, document.file)) ?? gone();
  const readAt = parts.clock.now();
  const read = await readApart(body, document.mimeType);
  run.report('parse', readAt, read.milliseconds.parse, read.text.length);
  run.report('chunk', readAt, read.milliseconds.chunk, read.chunks.length);
  signal.throwIfAborted();

  const total = read.chunks.length;
  await show('embed', 0, total);
  const { passages, embeddingModel } = await run.run(
    'embed',
    () => embedChunks(parts.models, documentId, read, signal, (done) => void show('embed', done, total).catch(() => undefined)),
    (embedded) => embedded.passages.length,
  );

  await show('publish', 0, total);
  const owner = document.spaceId === null ? {} : { spaceId: document.spaceId };
  const [text, chunks] = await run.run('publish', async () => storeBoth(parts.blobs, thing, owner, Buffer.from(read.text), await encodePassages(passages)), (names) => names.length);
  const command = { attempt: number, text, passages: chunks, chunkCount: total, tokenCount: estimatedTokens(read.text), embeddingModel, steps: run.reports };
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

const gone = (): never => {
  throw new IngestionFailure('content_missing');
};

const storeBoth = async (blobs: Blobs, thing: string, owner: { readonly spaceId?: string }, text: Buffer, passages: Buffer): Promise<readonly [text: string, passages: string]> => {
  const stored = await blobs.put(thing, text, owner);
  return [stored.name, (await blobs.put(thing, passages, owner)).name];
};

/** Ready is said only when a search finds the document. */
const publish = async (parts: IngestionParts, decide: Decide, number: number, position: Position): Promise<void> => {
  if (await parts.searchable(position, SEARCHABLE_WITHIN_MS)) await decide({ type: 'MarkReady', attempt: number });
  else await decide({ type: 'Fail', attempt: number, step: 'publish', code: 'not_searchable' });
};

const workerMeta = ({ ids, clock }: IngestionParts): CommandMeta => {
  const commandId = ids.next();
  return { commandId, correlationId: commandId, actor: 'system:ingestion', now: clock.now() };
};
