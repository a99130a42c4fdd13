import type { Blobs } from '@app/blobs';
import type { EventLog } from '@app/event-log';
import { type Clock, Unavailable } from '@app/kernel';
import type { Projecting } from '@app/projecting';
import type { ReadStore } from '@app/read-store';
import { namedBlobs } from '@projections/named-blobs';

const PAGE = 500;
/** How long a sweep waits for the view of named blobs before it gives up. */
const VIEW_MS = 30_000;
/** A body may be on its way to the event that names it; nothing takes this long. */
const KEPT_MS = 24 * 60 * 60_000;
const EVERY_MS = 60 * 60_000;

export interface BlobSweepParts {
  readonly blobs: Blobs;
  readonly log: Pick<EventLog, 'head'>;
  readonly readStore: Pick<ReadStore, 'getMany'>;
  readonly projecting: Pick<Projecting, 'waitFor'>;
  readonly clock: Clock;
  readonly logger: { warn(facts: object, message: string): void };
}

export interface Swept {
  /** How many blobs there were. */
  readonly blobs: number;
  readonly removed: number;
}

/** Removes blobs that no event names: what a process that died between storing a body and naming it left behind. */
export class BlobSweep {
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly parts: BlobSweepParts) {}

  /** Sweeps now and every hour. */
  start(): void {
    const sweep = () => void this.sweep().catch((error: unknown) => this.parts.logger.warn({ error }, 'blobs that nothing names were not removed'));
    this.timer = setInterval(sweep, EVERY_MS).unref();
    sweep();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** Removes what is older than a day and named by no event. Throws `Unavailable` while it cannot be known what is named. */
  async sweep(): Promise<Swept> {
    const { blobs, log, projecting, clock } = this.parts;
    const head = await log.head();
    if (head !== null && !(await projecting.waitFor(namedBlobs.name, head, VIEW_MS))) throw new Unavailable(`the view ${namedBlobs.name}`, 'it is behind the log');
    const before = clock.now().getTime() - KEPT_MS;
    const swept = { blobs: 0, removed: 0 };
    for (let after: string | null = null; ; ) {
      const page = await blobs.list(after, PAGE);
      const left = await this.leftIn(page, before);
      await blobs.remove(left);
      swept.blobs += page.length;
      swept.removed += left.length;
      after = page.at(-1) ?? null;
      if (page.length < PAGE) return swept;
    }
  }

  private async leftIn(names: readonly string[], before: number): Promise<readonly string[]> {
    const named = new Set((await this.parts.readStore.getMany(namedBlobs.name, names)).map(({ key }) => key));
    const left: string[] = [];
    for (const name of names) {
      if (named.has(name)) continue;
      const storedAt = await this.parts.blobs.storedAt(name);
      if (storedAt !== undefined && storedAt.getTime() < before) left.push(name);
    }
    return left;
  }
}
