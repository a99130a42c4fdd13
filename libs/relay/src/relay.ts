import type { EventLog } from '@app/event-log';
import { type Aggregates, type Clock, EventCodec, type Keyring, type Logger } from '@app/kernel';
import type { Reader } from '@app/projecting';
import type { Publisher } from './message';
import { RELAY, RelayRun } from './relay-run';

export interface RelayOptions {
  readonly log: EventLog;
  readonly aggregates: Aggregates;
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly logger: Logger;
  /** CloudEvents `source` of this instance. */
  readonly source: string;
  readonly topicPrefix: string;
}

/** What this process has sent since its start. */
export interface RelayCounts {
  /** Messages that the brokers accepted. */
  readonly published: number;
  /** Attempts in which they accepted none. */
  readonly failures: number;
}

/** Encrypted fields read as erased here, so no mapping can pass content on. */
const noKeys: Keyring = {
  ensureKey: () => Promise.reject(new Error('the relay writes nothing that is encrypted')),
  keys: async () => new Map(),
};

/** Injection token of the `Relay`; undefined where no brokers are configured. */
export const EVENT_RELAY = Symbol('EventRelay');

/**
 * Sends integration events to brokers: in order for each stream, at least once, from a place kept in the log. Runs beside the
 * policies, so in one process at a time and in no rebuild. While the brokers are away the log is the buffer.
 */
export class Relay implements Reader {
  readonly name = RELAY;
  private readonly codec: EventCodec;
  private published = 0;
  private failures = 0;

  constructor(private readonly options: RelayOptions) {
    this.codec = new EventCodec(options.aggregates.catalogue, noKeys);
  }

  /** Goes on behind the recorded place; resolves without waiting for the brokers. */
  start(onFenced: () => void): Promise<RelayRun> {
    return RelayRun.start({
      ...this.options,
      codec: this.codec,
      onFenced,
      onPublished: (messages) => (this.published += messages),
      onFailed: () => (this.failures += 1),
    });
  }

  get counts(): RelayCounts {
    return { published: this.published, failures: this.failures };
  }

  /** Checks within a bounded time whether the brokers can be reached. */
  health(): Promise<{ readonly ok: boolean; readonly reason?: string }> {
    return this.options.publisher.health();
  }

  /** Ends the connection that `health` holds too. */
  close(): Promise<void> {
    return this.options.publisher.close();
  }
}
