import type { Aggregates, DataKey, EventCodec, StoredEvent } from '@app/kernel';
import { describeError, isUnreadable, PoisonEvent } from '@app/projecting';
import { type Message, messageOf } from './message';

export interface Batch {
  readonly messages: readonly Message[];
  /** The first event of each stream that cannot be sent; it holds back those behind it. */
  readonly poison: readonly PoisonEvent[];
}

export interface BatchOptions {
  readonly codec: EventCodec;
  readonly aggregates: Pick<Aggregates, 'integrationOf'>;
  readonly source: string;
  readonly topicPrefix: string;
}

/** Content is not read: what is encrypted reads as erased. */
const NO_KEYS: ReadonlyMap<string, DataKey> = new Map();

/** The integration events of some events, in their order; `held` says from which revision on a stream waits, `privateStreams` are left out. */
export const batchOf = (
  events: readonly StoredEvent[],
  {
    held,
    privateStreams,
  }: { readonly held: ReadonlyMap<string, number>; readonly privateStreams: ReadonlySet<string> },
  { codec, aggregates, ...envelope }: BatchOptions,
): Batch => {
  const messages: Message[] = [];
  const poison = new Map<string, PoisonEvent>();
  for (const event of events) {
    if (privateStreams.has(event.stream)) continue;
    // What stands before the dead letter is sent: after a crash it may not have been.
    if (poison.has(event.stream) || event.revision >= (held.get(event.stream) ?? Number.POSITIVE_INFINITY)) continue;
    try {
      const recorded = codec.decodeWith(event, NO_KEYS);
      const told = aggregates.integrationOf(recorded);
      if (told !== null) messages.push(messageOf(told, recorded.context, envelope));
    } catch (error) {
      poison.set(
        event.stream,
        new PoisonEvent(event, isUnreadable(error) ? error.reason : 'reaction', describeError(error)),
      );
    }
  }
  return { messages, poison: [...poison.values()] };
};
