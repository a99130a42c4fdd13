import { type Clock, type EventCodec, type Ids, type Position, type StreamLog, streamOf, Unavailable } from '@app/kernel';
import { appendInsistently } from '../insistent-append';
import type { RecordedInvocation } from './invocation.events';

/** How long invocations gather before they are written: nobody waits for them, and few large events cost less than many small ones. */
const GATHERED_MS = 20;
/** Invocations that one event tells of at most. */
const BATCH = 200;
/** Invocations that wait for the log at most; then no call begins until some are written. */
const WAITING = 10_000;

interface Waiting {
  readonly invocation: RecordedInvocation;
  readonly resolve: (position: Position) => void;
  readonly reject: (error: unknown) => void;
}

export interface UsageRecordsParts {
  readonly log: StreamLog;
  readonly codec: EventCodec;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Names the stream: each process writes its own. */
  readonly processId: string;
}

/** Writes invocations to the log; those that end while others are written share one event. */
export class UsageRecords {
  private waiting: Waiting[] = [];
  private isRunning = false;
  private revision = -1;
  private readonly stream: string;

  constructor(private readonly parts: UsageRecordsParts) {
    this.stream = streamOf('usage', parts.processId);
  }

  /** Throws `Unavailable` while the log has not taken what ended long ago: calls that cannot be counted must not begin. */
  demandRoom(): void {
    if (this.waiting.length >= WAITING) throw new Unavailable('log', 'usage could not be recorded for a while');
  }

  /** Resolves to the position of the record, however long the log is away. */
  record(invocation: RecordedInvocation): Promise<Position> {
    const recorded = new Promise<Position>((resolve, reject) => this.waiting.push({ invocation, resolve, reject }));
    if (!this.isRunning) void this.run();
    return recorded;
  }

  private async run(): Promise<void> {
    this.isRunning = true;
    while (this.waiting.length > 0) {
      if (this.waiting.length < BATCH) await new Promise((resolve) => setTimeout(resolve, GATHERED_MS));
      const batch = this.waiting.splice(0, BATCH);
      try {
        const position = await this.write(batch.map(({ invocation }) => invocation));
        for (const { resolve } of batch) resolve(position);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.isRunning = false;
  }

  private async write(invocations: readonly RecordedInvocation[]): Promise<Position> {
    const commandId = this.parts.ids.next();
    const meta = { commandId, correlationId: commandId, actor: 'system:spending', now: this.parts.clock.now() };
    const events = await this.parts.codec.encode(this.stream, [{ type: 'InvocationsRecorded', data: { invocations } }], meta, {});
    const appended = await appendInsistently(this.parts.log, this.stream, events, this.revision);
    if (appended === undefined) throw new Error(`${this.stream} is written by somebody else`);
    this.revision = appended.revision;
    return appended.position;
  }
}
