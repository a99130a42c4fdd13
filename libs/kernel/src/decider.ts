import type { AnyEvent } from './event-definition';
import type { RecordedEvent } from './recorded-event';
import type { KeyOwner } from './keyring';

/**
 * The pure core of one kind of thing. `decide` turns a command into events or refuses (`refuse(code, facts)`); deciding the
 * same command twice yields nothing new. `evolve` folds an event into the state. No clock, no random, no I/O: what they
 * need arrives in the command.
 */
export interface Decider<State, Command, Event extends AnyEvent> {
  /** Streams of this kind are `category-id`. */
  readonly category: string;
  readonly initial: State;
  decide(command: Command, state: State): readonly Event[];
  evolve(state: State, event: RecordedEvent<Event>): State;
  /** Whom the stream's data key belongs to, from its first event; needed where events have sensitive fields. */
  owner?(event: Event): KeyOwner;
}

/** The stream of one thing. */
export const streamOf = (category: string, id: string): string => `${category}-${id}`;

/** The part of a stream name before the first dash: its kind. */
export const categoryOf = (stream: string): string => stream.slice(0, Math.max(0, stream.indexOf('-')));

/** The part of a stream name after the first dash: the thing's id. */
export const idOf = (stream: string): string => stream.slice(stream.indexOf('-') + 1);
