import { ReadResp } from '@eventstore/db-client/generated/streams_pb';
import type { Filter } from './filter';
import { encoded, type Recorded } from './recorded-event';
import type { ShownLog } from './shown-log';
import { type Failure, streamDeleted } from './statuses';

/** What a subscription hands over, in order, without end. */
export interface Feed {
  /** The next message; undefined at the end for now. */
  next(): Buffer | undefined;
  /** Events written and not handed over. */
  behind(): number;
  /** How the subscription ends after its last message. */
  ending(): Failure | undefined;
}

/** `$all` after a position. */
export class AllFeed implements Feed {
  private index: number;
  private considered = 0;
  private checkpoint: Recorded | undefined;

  constructor(
    private readonly log: ShownLog,
    private readonly after: number,
    private readonly filter: Filter | undefined,
  ) {
    this.index = log.indexFrom(after + 1);
  }

  next(): Buffer | undefined {
    if (this.checkpoint !== undefined) return this.takeCheckpoint(this.checkpoint);
    for (let event = this.log.records[this.index]; event !== undefined; event = this.log.records[this.index]) {
      this.index += 1;
      if (event.position <= this.after) continue;
      this.considered += 1;
      if (this.filter !== undefined && this.considered % this.filter.checkpointInterval === 0) this.checkpoint = event;
      if (this.filter === undefined || this.filter.accepts(event)) return event.reply;
      if (this.checkpoint !== undefined) return this.takeCheckpoint(this.checkpoint);
    }
    return undefined;
  }

  behind(): number {
    return this.log.records.length - this.index;
  }

  ending(): undefined {
    return undefined;
  }

  private takeCheckpoint({ position }: Recorded): Buffer {
    this.checkpoint = undefined;
    const at = String(position);
    return encoded(
      new ReadResp().setCheckpoint(new ReadResp.Checkpoint().setCommitPosition(at).setPreparePosition(at)),
    );
  }
}

/** A stream from a revision on. */
export class StreamFeed implements Feed {
  private isClosed = false;

  constructor(
    private readonly log: ShownLog,
    private readonly stream: string,
    private revision: number,
  ) {}

  next(): Buffer | undefined {
    const seen = this.log.look(this.stream);
    if (seen.kind === 'notFound' || this.isClosed) return undefined;
    if (seen.kind === 'tombstoned') {
      this.isClosed = true;
      return seen.event?.reply;
    }
    const revision = Math.max(this.revision, seen.first);
    const event = seen.events[revision];
    if (event !== undefined) this.revision = revision + 1;
    return event?.reply;
  }

  behind(): number {
    const seen = this.log.look(this.stream);
    return seen.kind === 'events' ? seen.events.length - this.revision : 0;
  }

  ending(): Failure | undefined {
    return this.isClosed ? streamDeleted(this.stream) : undefined;
  }
}
