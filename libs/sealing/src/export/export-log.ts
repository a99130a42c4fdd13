import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { inLogOrder, isForeignEvent, type LogPage, type LogReader } from '@app/event-log';
import {
  type Clock,
  type RetryOptions,
  type Position,
  type StoredEvent,
  syncToDisk,
  unfinishedName,
} from '@app/kernel';
import { receiptsOf, REMOVAL_STREAM } from '../removal';
import { SEAL_STREAM } from '../event-hash';
import { readableSealOf } from '../sealed-place';
import { SealedForeignEvents } from '../sealed-foreign-events';
import { eventLine, type ExportedRemoval, type ExportHeader, lineOf } from './export-format';
import { retryingReader } from './retrying-reader';

const PAGE = 1_000;

/** How a log is exported; `done` and `total` are events. */
export interface ExportOptions extends RetryOptions {
  /** Who signed the seals, base64url. */
  readonly publicKey: string;
  readonly clock: Clock;
  readonly onProgress?: (progress: { readonly done: number; readonly total: number }) => void;
}

/**
 * Exports the whole log to a file that can be verified by itself; foreign events only if an earlier version sealed
 * them. Waits while the log is unavailable. The file gets its name when it is complete and on the disk.
 */
export const exportLog = async (
  log: LogReader,
  file: string,
  { warn, timeoutMs, ...options }: ExportOptions,
): Promise<{ readonly events: number }> => {
  const unfinished = unfinishedName(file);
  const written = { events: 0 };
  try {
    const lines = Readable.from(exportText(retryingReader(log, { warn, timeoutMs }), options, written));
    const out = createWriteStream(unfinished, { flags: 'wx', mode: 0o600 });
    // An error of a write names no file. One of the log passes here too.
    out.on('error', (error: NodeJS.ErrnoException) => {
      if (error.syscall === 'write') error.message = `${file} cannot be written: ${error.message}`;
    });
    await (file.endsWith('.gz') ? pipeline(lines, createGzip(), out) : pipeline(lines, out));
    await syncToDisk(unfinished);
    await rename(unfinished, file);
    await syncToDisk(dirname(file));
  } finally {
    await rm(unfinished, { force: true });
  }
  return written;
};

async function* exportText(
  log: LogReader,
  { publicKey, clock, onProgress }: Omit<ExportOptions, keyof RetryOptions>,
  written: { events: number },
): AsyncGenerator<Buffer> {
  const digest = createHash('sha256');
  const text = (lines: readonly string[]): Buffer => {
    const bytes = Buffer.from(lines.join(''));
    digest.update(bytes);
    return bytes;
  };
  const head = await log.head();
  const total = await sealedOrdinal(log);
  const header: ExportHeader = {
    format: 'agent-platform/export',
    version: 1,
    at: clock.now().toISOString(),
    publicKey,
    ordinal: total,
  };
  yield text([lineOf(header)]);
  const removals = new Removals(receiptsOf(await log.readStream(REMOVAL_STREAM)));
  for await (const events of ofUsAndSealed(log, head)) {
    yield text(
      events.flatMap((event) => [...removals.before(event).map((removed) => lineOf({ removed })), eventLine(event)]),
    );
    written.events += events.length;
    onProgress?.({ done: written.events, total: Math.max(total, written.events) });
  }
  yield text(removals.rest().map((removed) => lineOf({ removed })));
  yield Buffer.from(lineOf({ footer: { events: written.events, sha256: digest.digest('hex') } }));
}

/** Every event of ours up to a position, in pages, and those of others that an earlier version sealed. */
async function* ofUsAndSealed(log: LogReader, head: Position | null): AsyncGenerator<readonly StoredEvent[]> {
  const sealed = new SealedForeignEvents(log);
  for await (const page of pagesUpTo(log, head)) {
    const chosen: StoredEvent[] = [];
    for (const event of inLogOrder(page)) {
      if (!isForeignEvent(event)) sealed.passed(event);
      if (!isForeignEvent(event) || (await sealed.holds(event))) chosen.push(event);
    }
    yield chosen;
  }
}

async function* pagesUpTo(log: LogReader, head: Position | null): AsyncGenerator<Pick<LogPage, 'events' | 'foreign'>> {
  for (let after: Position | null = null; head !== null;) {
    const { events, foreign, next, end }: LogPage = await log.readAll({ after, limit: PAGE, withForeign: true });
    const isPast = next !== null && next > head;
    yield isPast
      ? { events: events.filter(upTo(head)), foreign: foreign?.filter(upTo(head)) ?? [] }
      : { events, ...(foreign && { foreign }) };
    if (end || next === null || next >= head) return;
    after = next;
  }
}

const upTo =
  (head: Position) =>
  ({ position }: StoredEvent): boolean =>
    position <= head;

const sealedOrdinal = async (log: LogReader): Promise<number> => {
  const [last] = await log.readStream(SEAL_STREAM, { direction: 'backwards', limit: 1 });
  return last === undefined ? 0 : (readableSealOf(last)?.ordinal ?? 0);
};

/** Says each removed beginning of a stream once. */
class Removals {
  private readonly unsaid: Map<string, number>;

  constructor(receipts: ReturnType<typeof receiptsOf>) {
    this.unsaid = new Map([...receipts.values()].map(({ stream, beforeRevision }) => [stream, beforeRevision]));
  }

  before({ stream, revision }: StoredEvent): readonly ExportedRemoval[] {
    const isFirstLeft = this.unsaid.delete(stream) && revision > 0;
    return isFirstLeft ? [{ stream, before: revision }] : [];
  }

  rest(): readonly ExportedRemoval[] {
    return [...this.unsaid].map(([stream, before]) => ({ stream, before }));
  }
}
