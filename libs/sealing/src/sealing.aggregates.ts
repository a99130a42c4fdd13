import { categoryOf, defineAggregate } from '@app/kernel';
import { EventsRemoved, REMOVAL_STREAM } from './removal';
import { LogSealed, SEAL_STREAM } from './seal';
import { UNPROVEN_STREAM, UnprovenEventsFound, UnprovenTailSealed } from './unproven';

/** Seals, receipts of removals, and what was found unproven. */
export const sealingAggregates = [
  defineAggregate({ category: categoryOf(SEAL_STREAM) }, [LogSealed]),
  defineAggregate({ category: categoryOf(REMOVAL_STREAM) }, [EventsRemoved]),
  defineAggregate({ category: categoryOf(UNPROVEN_STREAM) }, [UnprovenTailSealed, UnprovenEventsFound]),
];
