import type { EventOf, RecordedEvent } from '@app/kernel';
import { OrderedMap } from 'immutable';
import type { PolicyDeadLettered, PolicyDeadLetterSettled } from './policy.events';

export type LetterEvent = EventOf<typeof PolicyDeadLettered> | EventOf<typeof PolicyDeadLetterSettled>;

/** What a policy could not react to, as it failed last. */
export type PolicyLetter = EventOf<typeof PolicyDeadLettered>['data'] & {
  /** ISO 8601 UTC. */
  readonly failedAt: string;
};

/** The unsettled letters, by the stream that waits for each, the longest waiting first. */
export type PolicyLetters = OrderedMap<string, PolicyLetter>;

export const NO_LETTERS: PolicyLetters = OrderedMap();

export const evolveLetters = (letters: PolicyLetters, event: RecordedEvent<LetterEvent>): PolicyLetters =>
  event.type === 'PolicyDeadLetterSettled'
    ? letters.delete(event.data.stream)
    : letters.set(event.data.stream, { ...event.data, failedAt: event.context.recordedAt });
