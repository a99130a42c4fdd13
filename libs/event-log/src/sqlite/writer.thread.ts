import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { LogCorrupted } from '../event-log';
import { checkBeforeOpening } from './opening-check';
import { reasonOf } from './sqlite-errors';
import { CommitFailed, openWriter, type Writer } from './writer';
import { type AppendRequest, type PackedRequests, type RemovalRequest, type Reply, unpackRequests, type WriterMessage, type WriterRequest } from './writer-protocol';

/** The thread that writes the log: all appends that wait go into one commit. */

const MOST_EVENTS = 1_024;
const MOST_BYTES = 4 * 1024 * 1024;
const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 2_000;

if (parentPort === null) throw new Error('this module runs in a worker thread');
const port = parentPort;
const { folder } = workerData as { folder: string };
const waiting: WriterRequest[] = [];
let writer: Writer | undefined;
let reason = '';
let acknowledged = 0;

const post = (message: WriterMessage): void => port.postMessage(message);

const open = (): void => {
  try {
    const { head, notice } = checkBeforeOpening(folder);
    acknowledged = head;
    writer = openWriter(folder, head);
    post({ kind: 'up', head, ...(notice === undefined ? {} : { notice }) });
  } catch (error) {
    if (error instanceof LogCorrupted) post({ kind: 'refused', place: error.place, detail: error.detail });
    else post({ kind: 'refused', detail: reasonOf(error) });
  }
};

const sayDown = (why: string): void => {
  if (reason !== why) post({ kind: 'down', reason: why });
  reason = why;
};

/** Closes the connection and opens another, until one can write. */
const reopen = (delay = FIRST_RETRY_MS): void => {
  try {
    writer?.close();
  } finally {
    writer = undefined;
  }
  setTimeout(() => {
    try {
      writer = openWriter(folder, acknowledged);
      writer.probe();
      acknowledged = writer.head;
      reason = '';
      post({ kind: 'up', head: acknowledged });
    } catch (error) {
      sayDown(error instanceof LogCorrupted ? error.message : reasonOf(error));
      reopen(Math.min(delay * 2, LAST_RETRY_MS));
    }
  }, delay);
};

/** The appends at the front of the queue that make one commit. */
const takeBatch = (): readonly AppendRequest[] => {
  const batch: AppendRequest[] = [];
  let events = 0;
  let bytes = 0;
  for (const request of waiting) {
    if (request.kind !== 'append') break;
    events += request.events.length;
    bytes += request.bytes;
    if (batch.length > 0 && (events > MOST_EVENTS || bytes > MOST_BYTES)) break;
    batch.push(request);
  }
  waiting.splice(0, batch.length);
  return batch;
};

const append = (target: Writer): void => {
  const batch = takeBatch();
  answer(batch, () => {
    const replies = target.append(batch);
    acknowledged = target.head;
    post({ kind: 'done', replies });
    target.checkpoint();
  });
};

const remove = (target: Writer, request: RemovalRequest): void => {
  waiting.shift();
  answer([request], () => {
    const step = target.remove(request);
    if (!('before' in step)) {
      target.checkpoint(true);
      post({ kind: 'done', replies: [step] });
    } else waiting.push(step);
  });
};

/** A failed commit fails what was in it, and writing with it until the log is open again: said before it is answered. */
const answer = (requests: readonly (AppendRequest | RemovalRequest)[], work: () => void): void => {
  try {
    work();
  } catch (error) {
    const outcome = error instanceof CommitFailed ? error.outcome : 'unknown';
    sayDown(reasonOf(error));
    post({ kind: 'done', replies: requests.map(({ id }): Reply => ({ id, kind: 'unavailable', reason, outcome })) });
    reopen();
  }
};

const refuseAll = (): void => {
  const refused = waiting.flatMap((request): Reply[] => (request.kind === 'close' ? [] : [{ id: request.id, kind: 'unavailable', reason, outcome: 'none' }]));
  const isClosing = waiting.some((request) => request.kind === 'close');
  waiting.length = 0;
  if (refused.length > 0) post({ kind: 'done', replies: refused });
  if (isClosing) post({ kind: 'closed' });
};

const closeWriter = (target: Writer): void => {
  target.close();
  writer = undefined;
  waiting.shift();
  post({ kind: 'closed' });
};

const work = (): void => {
  for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
    if (writer === undefined) return refuseAll();
    if (next.kind === 'append') append(writer);
    else if (next.kind === 'removal') remove(writer, next);
    else closeWriter(writer);
    takeMessages();
  }
};

const take = (packed: PackedRequests): void => {
  for (const request of unpackRequests(packed)) waiting.push(request);
};

/** What came in while the last commit was on its way joins the next one. */
const takeMessages = (): void => {
  for (let more = receiveMessageOnPort(port); more !== undefined; more = receiveMessageOnPort(port)) take(more.message as PackedRequests);
};

open();
port.on('message', (packed: PackedRequests) => {
  take(packed);
  takeMessages();
  work();
});
