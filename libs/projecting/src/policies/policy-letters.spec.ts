import type { RecordedEvent } from '@app/kernel';
import { evolveLetters, type LetterEvent, NO_LETTERS } from './policy-letters';

const at = (second: number): string => `2026-01-01T00:00:0${second}.000Z`;
const failed = (stream: string, second: number, attempts = 1) =>
  ({
    type: 'PolicyDeadLettered',
    data: {
      eventId: '018f0000-0000-7000-8000-000000000001',
      eventType: 'SpaceDeleted',
      stream,
      revision: 3,
      position: '0007',
      reason: 'reaction',
      detail: 'it failed',
      attempts,
    },
    context: { recordedAt: at(second) },
  }) as RecordedEvent<LetterEvent>;
const settled = (stream: string) =>
  ({
    type: 'PolicyDeadLetterSettled',
    data: { eventId: '018f0000-0000-7000-8000-000000000001', stream, outcome: 'retried' },
    context: { recordedAt: at(9) },
  }) as RecordedEvent<LetterEvent>;
const after = (...events: readonly RecordedEvent<LetterEvent>[]) =>
  events
    .reduce(evolveLetters, NO_LETTERS)
    .valueSeq()
    .map(({ stream, attempts, failedAt }) => [stream, attempts, failedAt])
    .toArray();

describe('the letters of a policy', () => {
  it('are those that were not settled, the longest waiting first', () => {
    const streams = Array.from({ length: 40 }, (_, index) => `space-${index}`);
    expect(after(...streams.map((stream) => failed(stream, 1)), settled('space-3')).map(([stream]) => stream)).toEqual(
      streams.filter((stream) => stream !== 'space-3'),
    );
  });

  it('stay in their place when they fail again, as they failed last', () => {
    expect(after(failed('space-a', 1), failed('space-b', 2), failed('space-a', 3, 6))).toEqual([
      ['space-a', 6, at(3)],
      ['space-b', 1, at(2)],
    ]);
  });

  it('come last when they fail after they were settled', () => {
    expect(after(failed('space-a', 1), failed('space-b', 2), settled('space-a'), failed('space-a', 4))).toEqual([
      ['space-b', 1, at(2)],
      ['space-a', 1, at(4)],
    ]);
  });
});
