import { type Blobs, BLOBS } from '@app/blobs';
import { EVENT_LOG, type LogReader } from '@app/event-log';
import { type Clock, CLOCK, LOGGER, Unavailable } from '@app/kernel';
import { Projecting, type RebuildControl } from '@app/projecting';
import { READ_STORE, type ReadStore } from '@app/read-store';
import { Inject, Injectable } from '@nestjs/common';
import { NAMED_BLOBS } from '@projections/named-blobs';
import { blobsNamedIn } from './blobs-in-log';

const PAGE = 500;
/** How long a sweep waits for the view of named blobs before it gives up. */
const VIEW_MS = 30_000;
/** A body may be on its way to the event that names it; nothing takes this long. */
const KEPT_MS = 24 * 60 * 60_000;
const EVERY_MS = 60 * 60_000;
/** Most that one sweep removes: what it looks for in the log. */
const MOST_AT_ONCE = 100_000;

/** What came of a sweep, in blobs. */
export interface Swept {
  /** How many blobs there were. */
  readonly blobs: number;
  readonly removed: number;
}

/**
 * Removes blobs that no event names, as a process leaves behind that dies between storing a body and naming it. A
 * view lists candidates only: another version of the program may name bodies in events that this one does not know.
 * So each candidate is looked for in the log before it is removed.
 */
@Injectable()
export class BlobSweep {
  private timer: NodeJS.Timeout | undefined;
  /** Named in the log, though not in the view: not looked for again. */
  private readonly kept = new Set<string>();

  constructor(
    @Inject(BLOBS) private readonly blobs: Pick<Blobs, 'list' | 'remove' | 'storedAt'>,
    @Inject(EVENT_LOG) private readonly log: Pick<LogReader, 'head' | 'readAll'>,
    @Inject(READ_STORE) private readonly readStore: Pick<ReadStore, 'count' | 'getMany'>,
    @Inject(Projecting)
    private readonly projecting: Pick<Projecting, 'gap'> & { rebuild(view: string): Pick<RebuildControl, 'status'> },
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Record<'error' | 'warn', (facts: object, message: string) => void>,
  ) {}

  /** Sweeps now and every hour. */
  start(): void {
    const sweep = () =>
      void this.sweep().catch((error: unknown) => this.logger.warn({ error }, 'Removing unnamed blobs failed.'));
    this.timer = setInterval(sweep, EVERY_MS).unref();
    sweep();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** Removes what is older than a day and named by no event. Throws `Unavailable`, and removes nothing, while it cannot be known what is named. */
  async sweep(): Promise<Swept> {
    const { blobs, log, readStore, clock } = this;
    await this.viewMustShowAll();
    const began = await this.logBegan();
    const before = clock.now().getTime() - KEPT_MS;
    const left = new Set<string>();
    // Counted before the blobs are listed: what is uploaded meanwhile is named, and is not in the list.
    const named = await readStore.count(NAMED_BLOBS);
    let count = 0;
    for (let after: string | null = null; ;) {
      const page = await blobs.list(after, PAGE);
      for (const name of await this.leftIn(page, began, before)) if (left.size < MOST_AT_ONCE) left.add(name);
      count += page.length;
      after = page.at(-1) ?? null;
      if (page.length < PAGE) break;
    }
    if (count === 0 && named > 0) await this.tellIfLost();
    for (const name of await blobsNamedIn(log, left)) {
      left.delete(name);
      this.kept.add(name);
    }
    // A dead letter may have come meanwhile.
    if (left.size > 0) await this.viewMustShowAll();
    const removed = [...left];
    for (let from = 0; from < removed.length; from += PAGE) await blobs.remove(removed.slice(from, from + PAGE));
    return { blobs: count, removed: removed.length };
  }

  /** An empty folder or bucket in the place of the one that was used is well, and would be noticed file by file. */
  private async tellIfLost(): Promise<void> {
    const { blobs, readStore } = this;
    // The view may still name what was removed before the list was read.
    await this.viewMustShowAll();
    const named = await readStore.count(NAMED_BLOBS);
    if (named > 0 && (await blobs.list(null, 1)).length === 0)
      this.logger.error(
        { named },
        'The log names files, but none is stored: documents cannot be read, and waiting ones fail. Put the files back (DATA_DIR/blobs, S3_URL), or restore a backup.',
      );
  }

  private async viewMustShowAll(): Promise<void> {
    const { log, projecting } = this;
    const head = await log.head();
    const gap = head === null ? undefined : await projecting.gap(NAMED_BLOBS, head, VIEW_MS);
    const state = (await projecting.rebuild(NAMED_BLOBS).status())?.state;
    const isComplete = state === undefined || state === 'ready' || state === 'swapped';
    const reason = gap?.reason ?? (isComplete ? undefined : 'it is being rebuilt');
    if (reason !== undefined) throw new Unavailable(`the view ${NAMED_BLOBS}`, reason);
  }

  /** When the first event was recorded: what was stored before belongs to another log, which may have been lost or is served elsewhere. */
  private async logBegan(): Promise<number> {
    const [first] = (await this.log.readAll({ limit: 1 })).events;
    return first === undefined
      ? Infinity
      : Date.parse((JSON.parse(first.metadata) as { readonly recordedAt: string }).recordedAt);
  }

  private async leftIn(names: readonly string[], began: number, before: number): Promise<readonly string[]> {
    const named = new Set((await this.readStore.getMany(NAMED_BLOBS, names)).map(({ key }) => key));
    const left: string[] = [];
    for (const name of names) {
      if (named.has(name) || this.kept.has(name)) continue;
      const storedAt = await this.blobs.storedAt(name);
      if (storedAt !== undefined && storedAt.getTime() >= began && storedAt.getTime() < before) left.push(name);
    }
    return left;
  }
}
