import type { AnyEvent } from './event-definition';
import type { RecordedEvent } from './recorded-event';
import type { KeyOwner } from './keyring';
import type { SnapshotFormat } from './snapshots';

/**
 * The pure core of an aggregate. `decide` turns a command into events or throws (`reject(code, facts)`); it yields
 * nothing new for a command that was decided before. `evolve` folds an event into the state. No clock, randomness or
 * I/O: whatever they need is in the command.
 */
export interface Decider<State, Command, Event extends AnyEvent> {
  /** Streams are named `category-id`. */
  readonly category: string;
  readonly initial: State;
  decide(command: Command, state: State): readonly Event[];
  evolve(state: State, event: RecordedEvent<Event>): State;
  /** Types of events whose sensitive fields it does not read: they reach `evolve` as erased, and nobody decrypts them. */
  readonly withoutContent?: ReadonlySet<Event['type']>;
  /** How its state is kept in a snapshot, for deciders whose streams grow long; others have none. */
  readonly snapshot?: SnapshotFormat<State>;
  /** Who owns the stream's data key, from its first event. Required if events have sensitive fields. */
  owner?(event: Event): KeyOwner;
}

/** The stream of an aggregate. */
export const streamOf = (category: string, id: string): string => `${category}-${id}`;

/** The category of a stream: its name before the first dash. */
export const categoryOf = (stream: string): string => stream.slice(0, Math.max(0, stream.indexOf('-')));

/** The id of an aggregate: the name of its stream after the first dash. */
export const idOf = (stream: string): string => stream.slice(stream.indexOf('-') + 1);
