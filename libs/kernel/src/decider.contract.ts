import * as fc from 'fast-check';
import { type AnyEvent, type Decider, isDomainError, type RecordedEvent, streamOf } from '.';

/** Events as they would be read from one stream, a second apart. */
export const recorded = <Event extends AnyEvent>(
  stream: string,
  events: readonly Event[],
  from = 0,
): RecordedEvent<Event>[] =>
  events.map((event, index) => {
    const revision = from + index;
    const recordedAt = new Date(Date.UTC(2026, 0, 1) + revision * 1_000).toISOString();
    return {
      ...event,
      context: {
        id: `event-${revision}`,
        stream,
        revision,
        position: String(revision),
        recordedAt,
        actor: 'user:u1',
        commandId: `command-${revision}`,
        correlationId: 'c',
      },
    };
  });

/** `given(decider, ...events).when(command).yields(...events)`; what is yielded must not be yielded again. */
export const given = <State, Command, Event extends AnyEvent>(
  decider: Decider<State, Command, Event>,
  ...events: readonly Event[]
) => {
  const stream = streamOf(decider.category, 'x');
  const fold = (state: State, more: readonly Event[], from: number): State =>
    recorded(stream, more, from).reduce((folded, event) => decider.evolve(folded, event), state);
  const state = fold(decider.initial, events, 0);
  return {
    state,
    when: (command: Command) => ({
      yields: (...expected: readonly Event[]): void => {
        const decided = decider.decide(command, state);
        expect(decided).toEqual(expected);
        expect(decider.decide(command, fold(state, decided, events.length))).toEqual([]);
      },
      rejects: (code: string, facts?: object): void => {
        expect(() => decider.decide(command, state)).toThrow(
          expect.objectContaining({ name: 'DomainError', code, ...(facts === undefined ? {} : { facts }) }),
        );
      },
    }),
  };
};

/** The property of every decider: in whatever state commands have led to, a command that was decided yields nothing when it is decided again. */
export const decidesOnce = <State, Command, Event extends AnyEvent>(
  decider: Decider<State, Command, Event>,
  commands: fc.Arbitrary<Command>,
): void => {
  const stream = streamOf(decider.category, 'x');
  fc.assert(
    fc.property(fc.array(commands, { maxLength: 12 }), (sequence) => {
      let state = decider.initial;
      let revision = 0;
      for (const command of sequence) {
        const decided = decidedOr(decider, command, state);
        if (decided === undefined) continue;
        state = recorded(stream, decided, revision).reduce((folded, event) => decider.evolve(folded, event), state);
        revision += decided.length;
        expect(decider.decide(command, state)).toEqual([]);
      }
    }),
    { numRuns: 300 },
  );
};

const decidedOr = <State, Command, Event extends AnyEvent>(
  decider: Decider<State, Command, Event>,
  command: Command,
  state: State,
): readonly Event[] | undefined => {
  try {
    return decider.decide(command, state);
  } catch (error) {
    if (isDomainError(error)) return undefined;
    throw error;
  }
};
