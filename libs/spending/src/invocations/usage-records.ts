import { Unavailable } from '@app/kernel';
import type { RecordedInvocation } from './invocation.events';
import { INVOCATIONS_AT_ONCE, type RecordedCost, UsageStream, type UsageStreamParts } from './usage-stream';

/**
 * How long invocations are collected before they are written: nobody waits for them, and few large events cost less
 * than many small ones.
 */
const GATHERED_MS = 20;
/** Invocations that wait for the log at most; then no call begins until some are written. */
const WAITING = 10_000;

/** `isByOthers`: they took this process for dead. */
export type OwnRecord = RecordedCost & { readonly isByOthers: boolean };

interface Waiting {
  readonly invocation: RecordedInvocation;
  readonly resolve: (recorded: OwnRecord) => void;
  readonly reject: (error: unknown) => void;
}

export interface UsageRecordsParts extends UsageStreamParts {
  /** Names the stream: each process writes its own. */
  readonly processId: string;
}

/** Writes invocations to the log; those that end while others are written share one event. */
export class UsageRecords {
  private waiting: Waiting[] = [];
  private isRunning = false;
  private revision = -1;
  private readonly stream: UsageStream;
  /** What others recorded in the place of this process while they took it for dead. */
  private readonly byOthers = new Map<string, RecordedCost>();

  constructor(parts: UsageRecordsParts) {
    this.stream = new UsageStream(parts, parts.processId);
  }

  /** Throws `Unavailable` while old records cannot be appended: calls that cannot be counted must not begin. */
  assertCapacity(): void {
    if (this.waiting.length >= WAITING) throw new Unavailable('log', 'usage could not be recorded for a while');
  }

  /**
   * Resolves to the record, however long the log is unavailable. If others have already recorded the call, their record
   * is used and nothing is written.
   */
  record(invocation: RecordedInvocation): Promise<OwnRecord> {
    const recorded = new Promise<OwnRecord>((resolve, reject) => this.waiting.push({ invocation, resolve, reject }));
    if (!this.isRunning) void this.run();
    return recorded;
  }

  private async run(): Promise<void> {
    this.isRunning = true;
    while (this.waiting.length > 0) {
      if (this.waiting.length < INVOCATIONS_AT_ONCE) await new Promise((resolve) => setTimeout(resolve, GATHERED_MS));
      const batch = this.waiting.splice(0, INVOCATIONS_AT_ONCE);
      try {
        await this.write(batch);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.isRunning = false;
  }

  private async write(batch: readonly Waiting[]): Promise<void> {
    for (;;) {
      const news = batch.filter(({ invocation }) => !this.byOthers.has(invocation.id));
      const appended =
        news.length === 0
          ? { position: '', revision: this.revision }
          : await this.stream.record(
              news.map(({ invocation }) => invocation),
              this.revision,
            );
      if (appended === undefined) {
        await this.readOthers();
        continue;
      }
      this.revision = appended.revision;
      for (const { invocation, resolve } of batch) {
        const others = this.byOthers.get(invocation.id);
        resolve(
          others === undefined
            ? {
                cost: BigInt(invocation.cost),
                currency: invocation.currency,
                position: appended.position,
                isByOthers: false,
              }
            : { ...others, isByOthers: true },
        );
        this.byOthers.delete(invocation.id);
      }
      return;
    }
  }

  private async readOthers(): Promise<void> {
    const { costs, end } = await this.stream.since(this.revision);
    for (const [id, recorded] of costs) this.byOthers.set(id, recorded);
    this.revision = end;
  }
}
