import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { LogCorrupted } from '../event-log';
import { checkBeforeOpening } from './opening-check';
import { reasonOf } from './sqlite-errors';
import { CommitFailed, openWriter, type Writer } from './writer';
import {
  type AppendRequest,
  type Packed,
  packReplies,
  type RemovalRequest,
  type Reply,
  unpackRequests,
  type WriterMessage,
  type WriterRequest,
} from './writer-protocol';

/** Writes the log in a thread. All waiting appends share one commit. */

const MOST_APPENDS = 1_024;
const MOST_BYTES = 4 * 1024 * 1024;
const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 2_000;
const EMPTY_AGAIN_MS = 1_000;

if (parentPort === null) throw new Error('this module runs in a worker thread');
const port = parentPort;
const { folder } = workerData as { folder: string };
const waiting: WriterRequest[] = [];
let writer: Writer | undefined;
let reason = '';
let acknowledged = 0;
let indexed = 0;
let reopening: NodeJS.Timeout | undefined;
let emptying: NodeJS.Timeout | undefined;

const post = (message: WriterMessage): void => port.postMessage(message);
const reply = (replies: readonly Reply[]): void => post({ kind: 'done', replies: packReplies(replies) });

const open = (): void => {
  try {
    const { head, notice } = checkBeforeOpening(folder);
    acknowledged = head;
    writer = openWriter(folder, head);
    post({ kind: 'up', head, indexed: writer.indexed, ...(notice === undefined ? {} : { notice }) });
  } catch (error) {
    if (error instanceof LogCorrupted) post({ kind: 'rejected', place: error.place, detail: error.detail });
    else post({ kind: 'rejected', detail: reasonOf(error) });
    port.close();
  }
};

const sayDown = (why: string): void => {
  if (reason !== why) post({ kind: 'down', reason: why });
  reason = why;
};

/** Reopens the connection until one can write. */
const reopen = (delay = FIRST_RETRY_MS): void => {
  try {
    writer?.close();
  } finally {
    writer = undefined;
  }
  reopening = setTimeout(() => {
    try {
      writer = openWriter(folder, acknowledged);
      writer.probe();
      acknowledged = writer.head;
      reason = '';
      post({ kind: 'up', head: acknowledged, indexed: writer.indexed });
    } catch (error) {
      sayDown(error instanceof LogCorrupted ? error.message : reasonOf(error));
      reopen(Math.min(delay * 2, LAST_RETRY_MS));
    }
  }, delay);
};

/** Takes the appends at the front of the queue into a batch, one after another, as many as one commit may hold. */
function* takeAppends(batch: AppendRequest[]): Generator<AppendRequest> {
  let bytes = 0;
  for (
    let next = waiting[0];
    next?.kind === 'append' && batch.length < MOST_APPENDS && bytes < MOST_BYTES;
    next = waiting[0]
  ) {
    waiting.shift();
    batch.push(next);
    bytes += next.bytes;
    yield next;
  }
}

const append = (target: Writer): void => {
  const batch: AppendRequest[] = [];
  answer(batch, () => {
    const replies = target.append(takeAppends(batch));
    acknowledged = target.head;
    reply(replies);
    target.index();
    target.checkpoint();
    sayIndexed(target);
  });
};

const remove = (target: Writer, request: RemovalRequest): void => {
  waiting.shift();
  answer([request], () => {
    const step = target.remove(request);
    if (step.kind === 'removal') return void waiting.push(step);
    if (step.kind === 'removed') empty();
    sayIndexed(target);
    reply([step]);
  });
};

/** Removes emptied events from the write-ahead log. Retries beside the appends while a long reader needs it. */
const empty = (): void => {
  clearTimeout(emptying);
  if (writer?.empty() !== true) emptying = setTimeout(() => answer([], empty), EMPTY_AGAIN_MS);
};

const sayIndexed = (target: Writer): void => {
  if (target.indexed !== indexed) post({ kind: 'indexed', upTo: target.indexed });
  indexed = target.indexed;
};

/** A failed commit fails what was in it, and writing with it until the log is open again: said before it is answered. */
const answer = (requests: readonly (AppendRequest | RemovalRequest)[], work: () => void): void => {
  try {
    work();
  } catch (error) {
    const outcome = error instanceof CommitFailed ? error.outcome : 'unknown';
    sayDown(reasonOf(error));
    reply(requests.map(({ id }) => ({ id, kind: 'unavailable', reason, outcome })));
    reopen();
  }
};

const rejectAll = (): void => {
  const rejected = waiting.flatMap((request): Reply[] =>
    request.kind === 'close' ? [] : [{ id: request.id, kind: 'unavailable', reason, outcome: 'none' }],
  );
  const isClosing = waiting.some((request) => request.kind === 'close');
  waiting.length = 0;
  if (rejected.length > 0) reply(rejected);
  if (isClosing) end();
};

/** Closes everything, so that the thread ends by itself. */
const end = (): void => {
  clearTimeout(reopening);
  clearTimeout(emptying);
  post({ kind: 'closed' });
  port.close();
};

const closeWriter = (target: Writer): void => {
  try {
    target.index(true);
  } catch (error) {
    // Optional: the next one to open the log reads on from the end of the index.
    if (!(error instanceof CommitFailed)) throw error;
  }
  target.close();
  writer = undefined;
  waiting.shift();
  end();
};

const work = (): void => {
  for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
    if (writer === undefined) return rejectAll();
    if (next.kind === 'append') append(writer);
    else if (next.kind === 'removal') remove(writer, next);
    else closeWriter(writer);
    takeMessages();
  }
};

const take = (packed: Packed): void => {
  for (const request of unpackRequests(packed)) waiting.push(request);
};

/** Takes the requests that arrived during the last commit into the next one. */
const takeMessages = (): void => {
  for (let more = receiveMessageOnPort(port); more !== undefined; more = receiveMessageOnPort(port))
    take(more.message as Packed);
};

open();
port.on('message', (packed: Packed) => {
  take(packed);
  takeMessages();
  work();
});
