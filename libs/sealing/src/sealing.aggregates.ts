import { categoryOf, defineAggregate } from '@app/kernel';
import { EventsRemoved, removals } from './removal';
import { SEAL_STREAM } from './event-hash';
import { LogSealed } from './seal';
import { UNPROVEN_STREAM, UnprovenEventsFound, UnprovenTailSealed } from './unproven';

/** Seals, receipts of removals, and what was found unproven. */
export const sealingAggregates = [
  defineAggregate({ category: categoryOf(SEAL_STREAM) }, [LogSealed]),
  defineAggregate(removals, [EventsRemoved]),
  defineAggregate({ category: categoryOf(UNPROVEN_STREAM) }, [UnprovenTailSealed, UnprovenEventsFound]),
];
