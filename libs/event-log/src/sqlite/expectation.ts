import type { ExpectedRevision } from '@app/kernel';
import type { StreamHead } from './stream-heads';

/**
 * Whether an append that expects this may be written now. A stream whose last event was removed counts as none, and goes
 * on at its next revision; an exact revision still holds there.
 */
export const holds = (expected: ExpectedRevision, head: StreamHead): boolean => {
  switch (expected) {
    case 'any':
      return true;
    case 'noStream':
      return !head.live;
    case 'streamExists':
      return head.live;
    default:
      return expected === head.revision;
  }
};

/** The revision that the first event of an append would have had; undefined if unknown. */
export const intendedRevision = (expected: ExpectedRevision): number | undefined => {
  if (expected === 'noStream') return 0;
  return typeof expected === 'number' ? expected + 1 : undefined;
};
