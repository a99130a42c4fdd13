import {
  type AppendResult,
  type Clock,
  type EventCodec,
  type EventOf,
  type Ids,
  retryUntilAnswered,
  type Position,
  type RecordedEvent,
  type StreamLog,
  streamOf,
} from '@app/kernel';
import { retryAppend } from '../retry-append';
import type { invocationsRecorded, RecordedInvocation } from './invocation.events';

/** Invocations that one event tells of at most. */
export const INVOCATIONS_AT_ONCE = 200;

export interface UsageStreamParts {
  readonly log: StreamLog;
  readonly codec: EventCodec;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** What a call cost, nano-units of its currency, and where that is recorded. */
export interface RecordedCost {
  readonly cost: bigint;
  readonly currency: string;
  readonly position: Position;
}

/**
 * The stream of the invocations of one process. Only that process writes it, or others in its place once they consider
 * it dead.
 */
export class UsageStream {
  private readonly stream: string;

  constructor(
    private readonly parts: UsageStreamParts,
    processId: string,
  ) {
    this.stream = streamOf('usage', processId);
  }

  /** Revision of its last event, -1 for none. */
  async end(): Promise<number> {
    const [last] = await this.parts.log.readStream(this.stream, { direction: 'backwards', limit: 1 });
    return last?.revision ?? -1;
  }

  /** Records invocations after a revision, however long the log is unavailable; undefined if others were faster. */
  async record(invocations: readonly RecordedInvocation[], revision: number): Promise<AppendResult | undefined> {
    const commandId = this.parts.ids.next();
    const meta = { commandId, correlationId: commandId, actor: 'system:spending', now: this.parts.clock.now() };
    const events = await this.parts.codec.encode(
      this.stream,
      [{ type: 'InvocationsRecorded', data: { invocations } }],
      meta,
      {},
    );
    return retryAppend(this.parts.log, this.stream, events, revision);
  }

  /**
   * The records after a revision, by id of the call, and the end of the stream; however long the log is unavailable.
   */
  async since(revision: number): Promise<{ readonly costs: ReadonlyMap<string, RecordedCost>; readonly end: number }> {
    const stored = await retryUntilAnswered(() => this.parts.log.readStream(this.stream, { from: revision + 1 }));
    const costs = new Map<string, RecordedCost>();
    for (const [index, event] of (await this.parts.codec.decode(stored)).entries()) {
      // The codec has checked it by its type, and this stream holds no other events.
      const { invocations } = (event as RecordedEvent<EventOf<typeof invocationsRecorded>>).data;
      const { position } = stored[index] as (typeof stored)[number];
      for (const { id, cost, currency } of invocations) costs.set(id, { cost: BigInt(cost), currency, position });
    }
    return { costs, end: stored.at(-1)?.revision ?? revision };
  }
}
